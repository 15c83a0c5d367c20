import { useEffect, useRef, useState } from "preact/hooks";
import type { CollectionShown, CustomerLookupOut, CustomerMatchOut, LookupOut, MatchOut } from "../../api";
import { announce } from "../../announce";
import { pathOf } from "../../call";
import { AreaField, Button, ChoiceField, Empty, Form, FormFoot, Section, SelectField } from "../../kit";
import { useAction } from "../../load";
import { isolated } from "../../naming";
import { ApiProblem } from "../../problem";
import { counted } from "../../words";
import { ask } from "./asking";
import { CardPairs } from "./card_pairs";
import { cardPairs, type CardPair } from "./compare";

type How = "lookup" | "match";

/** Cards under one term, or in one text. */
interface Found {
  term: string;
  pairs: CardPair[];
}

const HOW = [
  { value: "lookup", label: "Look up terms", hint: "One a line. A card is found under exactly its keys." },
  { value: "match", label: "Match a text", hint: "Cards whose keys occur in it." },
];

/** Asks for cards as agents and as customers do. */
export function CardTab({ collections, first }: { collections: CollectionShown[]; first?: string | null }) {
  const [how, setHow] = useState<How>("lookup");
  const [text, setText] = useState("");
  const [collection, setCollection] = useState(
    (collections.find(({ id }) => id === first) ?? collections[0])?.id ?? "",
  );
  const [found, setFound] = useState<{ of: Found[]; dropped: number } | null>(null);
  const under = useRef<AbortController | null>(null);
  useEffect(() => () => under.current?.abort(), []);
  const asking = useAction(async () => {
    under.current = new AbortController();
    const got = await (how === "lookup" ? lookedUp : matched)(collection, text, under.current.signal);
    setFound(got);
    announce(`${counted(got.of.flatMap(({ pairs }) => pairs).length, "card")} found.`);
  });
  if (collections.length === 0)
    return (
      <div class="card">
        <Empty title="There is no collection of cards" />
      </div>
    );
  const options = collections.map(({ id, name, exposureProfile }) => ({
    value: id,
    label: `${isolated(name)} (${exposureProfile})`,
  }));
  const choose = (value: string) => {
    setHow(value as How);
    setFound(null);
  };
  return (
    <div class="stack">
      <div class="card question">
        <Form label="Cards" onSubmit={() => void asking.run()} problem={asking.problem}>
          <div class="two">
            <SelectField label="Collection" value={collection} onValue={setCollection} options={options} />
            <ChoiceField label="How" value={how} onValue={choose} options={HOW} />
          </div>
          <AreaField
            label={how === "lookup" ? "Terms" : "Text"}
            value={text}
            onValue={setText}
            rows={4}
            pointer={how === "lookup" ? "/terms" : "/text"}
          />
          <FormFoot>
            <Button type="submit" kind="primary" busy={asking.busy}>
              Ask as both
            </Button>
          </FormFoot>
        </Form>
      </div>
      {found?.of.map(({ term, pairs }) => (
        <Section key={term} title={term} plain>
          <CardPairs pairs={pairs} />
        </Section>
      ))}
      {!!found?.dropped && <p class="muted">{counted(found.dropped, "card")} had no room in the answer.</p>}
    </div>
  );
}

async function lookedUp(collection: string, text: string, signal: AbortSignal) {
  const terms = [
    ...new Set(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
  const [agent, customer] = await both<LookupOut, CustomerLookupOut>(collection, "lookup", { terms }, signal);
  const of = terms.map((term) => ({
    term,
    pairs: cardPairs(agent.results[term] ?? [], customer?.results[term] ?? []),
  }));
  return { of, dropped: agent.dropped };
}

async function matched(collection: string, text: string, signal: AbortSignal) {
  const [agent, customer] = await both<MatchOut, CustomerMatchOut>(collection, "match", { text }, signal);
  return {
    of: [{ term: "Cards in the text", pairs: cardPairs(agent.cards, customer?.cards ?? []) }],
    dropped: agent.dropped,
  };
}

// To a customer, an agent_only collection is one that is not there.
async function both<A, C>(collection: string, how: How, body: object, signal: AbortSignal): Promise<[A, C | null]> {
  const path = pathOf("collections", collection, "context-cards", how);
  const [agent, customer] = await Promise.all([
    ask<A>("agt", path, body, signal),
    ask<C>("ast", path, body, signal).catch((thrown: unknown) => {
      if (thrown instanceof ApiProblem && thrown.status === 404) return null;
      throw thrown;
    }),
  ]);
  return [agent.data, customer?.data ?? null];
}
