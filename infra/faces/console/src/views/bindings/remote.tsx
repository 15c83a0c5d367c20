import type { EntryShown, InstanceShown, InstanceTestShown } from "../../api";
import { Badge, Exposure, Facts, Loaded, Notice, RiskBadges, Section } from "../../kit";
import { useLoad, type Loading } from "../../load";
import { href } from "../../router";
import { readEntry, test } from "../instances/calls";
import { factsOf, PRODUCTS, WHY_NOT } from "../instances/products";

export function useEntry(instanceId: string, remoteId: string | null): Loading<EntryShown | null> {
  return useLoad(
    async (signal) => (remoteId === null ? null : readEntry(instanceId, remoteId, signal)),
    [instanceId, remoteId],
  );
}

/** Their side of a binding: what the server says of this knowledge base now. */
export function Remote(props: { instance: InstanceShown; remoteId: string; entry: Loading<EntryShown | null> }) {
  const { instance, remoteId } = props;
  const product = PRODUCTS[instance.kind];
  return (
    <Section title="On the server">
      <Loaded from={props.entry}>{(entry) => entry && <Entry of={entry} />}</Loaded>
      <Facts
        of={[
          ["Id", <code>{remoteId}</code>],
          ["Instance", <a href={href("instances", instance.id)}>{instance.name}</a>],
          ["Exposure", <Exposure of={instance.exposureProfile} />],
          [
            "Address",
            <>
              <code>{instance.baseUrl}</code> <RiskBadges risks={instance.acknowledged} />
            </>,
          ],
          ["Product", `${product.name}, ${product.versions}`],
          ["Version", <Version of={instance} />],
        ]}
      />
      <div class="stack tight small-text">
        <p>
          <strong>It can search</strong> {lower(product.searches)}
        </p>
        <p>
          <strong>What it leaves there:</strong> {lower(product.traces)}
        </p>
      </div>
    </Section>
  );
}

function Entry({ of }: { of: EntryShown }) {
  const reason = of.notSearchable === null ? null : WHY_NOT[of.notSearchable];
  return (
    <div class="stack tight">
      <h3>{of.name || of.id}</h3>
      {of.description && <p class="break">{of.description}</p>}
      {factsOf(of).length > 0 && (
        <p class="row">
          {factsOf(of).map((fact) => (
            <Badge key={fact}>{fact}</Badge>
          ))}
        </p>
      )}
      {reason && (
        <Notice tone="warn" title={`It cannot be bound: ${reason.word}`}>
          <p>{reason.means}</p>
        </Notice>
      )}
    </div>
  );
}

// A test without a query reads the list and no more.
function Version({ of }: { of: InstanceShown }) {
  const found = useLoad<InstanceTestShown>((signal) => test(of.id, { query: null, remoteId: null }, signal), [of.id]);
  if (found.data === null) return <span class="muted">{found.problem ? "could not be asked" : "asking …"}</span>;
  const { version, errorCode } = found.data;
  if (version) return <>{version}</>;
  if (errorCode) return <Badge tone="warn">{errorCode}</Badge>;
  return <span class="muted">not told. {PRODUCTS[of.kind].tellsVersion}</span>;
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
