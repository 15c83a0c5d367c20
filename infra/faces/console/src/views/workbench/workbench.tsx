import { useEffect } from "preact/hooks";
import { Page, Loaded, Tabs } from "../../kit";
import { useLoad } from "../../load";
import { note } from "../../router";
import { useStore } from "../../store";
import { counted } from "../../words";
import type { ViewProps } from "../../views";
import { endOf, staying } from "./giving_back";
import { CardTab } from "./card_tab";
import { SearchTab } from "./search_tab";
import { dropAll, held } from "./short_lived";
import { readSources } from "./sources";

const TABS = [
  { id: "search", label: "Search" },
  { id: "cards", label: "Cards" },
];

/** Asks a question as an agent and as a customer, and lays the two answers side by side. */
export function WorkbenchView({ query }: ViewProps) {
  const sources = useLoad(readSources, []);
  useEffect(() => () => dropAll(), []);
  const tab = query.get("tab") === "cards" ? "cards" : "search";
  return (
    <Page title="Workbench" lead="Ask as an agent and as a customer, and see what each is shown.">
      <Lent />
      <Loaded from={sources}>
        {(data) => (
          <Tabs label="What to try" tabs={TABS} current={tab} onCurrent={(id) => note("tab", id)}>
            {/* Both stay, so that an answer is still there after a look at the other one. */}
            <div hidden={tab !== "search"}>
              <SearchTab sources={data} />
            </div>
            <div hidden={tab !== "cards"}>
              <CardTab collections={data.collections} first={query.get("collection")} />
            </div>
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function Lent() {
  const lent = useStore(held);
  const left = useStore(staying);
  const until = lent && new Date(lent.endsAtMs).toLocaleTimeString(undefined, { timeStyle: "short" });
  return (
    <p class="muted small-text lent">
      {until
        ? `${counted(lent.count, "short-lived credential")} in use until ${until}, renewed when needed, and deleted when you leave this view.`
        : "Two credentials of 15 minutes, an agent's and an assistant's, are made with the first question and deleted when you leave this view."}
      {left[0] &&
        ` ${counted(left.length, "earlier one is", "earlier ones are")} not deleted yet: that is tried again with the next question. The last ends by itself at ${endOf(left.at(-1) ?? left[0])}.`}
    </p>
  );
}
