import type { AgentResultOut, CustomerResultOut } from "../../api";
import { Badge, Empty, Exposure, OutsideLink, Time } from "../../kit";
import { href } from "../../router";
import { isAgentOnly, whyHidden, type PassagePair } from "./compare";
import { Both, Pair } from "./pair";
import { Snippet } from "./snippet";

interface Props {
  pairs: PassagePair[];
  hasCustomers: boolean;
}

/** Each passage of the agent's answer, and beside it what a customer is shown of it. */
export function PassagePairs({ pairs, hasCustomers }: Props) {
  if (pairs.length === 0) {
    return (
      <div class="card">
        <Empty title="Nobody was shown a passage" />
      </div>
    );
  }
  return (
    <Both>
      {pairs.map(({ agent, customer, rank }, at) => (
        <Pair
          key={at}
          hidden={agent !== null && customer === null}
          agent={agent && <AgentPassage of={agent} rank={at + 1} />}
          customer={customer && <CustomerPassage of={customer} rank={rank} />}
          why={
            agent
              ? whyHidden(agent.provider.id, hasCustomers)
              : "Not among the agent's passages: others came before it there."
          }
        />
      ))}
    </Both>
  );
}

function AgentPassage({ of, rank }: { of: AgentResultOut; rank: number }) {
  return (
    <>
      <p class="passage-title">
        <span class="rank">{rank}</span> <OutsideLink url={of.url}>{of.title || "(no title)"}</OutsideLink>
      </p>
      <p class="row">
        <a href={href("providers", of.provider.id)}>{of.provider.name}</a>
        <Exposure of={isAgentOnly(of.provider.id) ? "agent_only" : "customer_safe"} />
        <Badge tone={of.audience === "public" ? "info" : "inside"} title="The provider's own label">
          {of.audience}
        </Badge>
        <Locale of={of} />
        {of.freshness !== "unknown" && (
          <Badge tone={of.freshness === "stale" ? "warn" : "neutral"}>{of.freshness}</Badge>
        )}
        {of.truncated && (
          <Badge tone="warn" title="The provider's text goes on">
            cut
          </Badge>
        )}
        {of.evidence === "derived_context" && <Badge tone="warn">derived, not a source's words</Badge>}
      </p>
      <Snippet of={of.snippet} about={of.title} />
      <p class="muted small-text break">
        <code>{of.chunkId ?? of.documentId}</code>
        {of.revision && <> · revision {of.revision}</>}
        <Scores of={of} />
        {of.reviewDueAt && (
          <>
            {" "}
            · review due <Time at={of.reviewDueAt} />
          </>
        )}
      </p>
    </>
  );
}

function Scores({ of }: { of: AgentResultOut }) {
  if (of.providerScores)
    return <> · {of.providerScores.map(({ type, value }) => `${type} ${value ?? "–"}`).join(", ")}</>;
  return of.providerScore === null ? null : <> · score {of.providerScore}</>;
}

function CustomerPassage({ of, rank }: { of: CustomerResultOut; rank: number | null }) {
  return (
    <>
      <p class="passage-title">
        <span class="rank">{rank}</span> <OutsideLink url={of.url}>{of.title || "(no title)"}</OutsideLink>
      </p>
      <p class="row">
        <Locale of={of} />
      </p>
      <Snippet of={of.snippet} about={of.title} />
    </>
  );
}

function Locale({ of }: { of: { locale: string | null; localeFallback: boolean | null } }) {
  if (of.locale === null) return <Badge>locale not known</Badge>;
  return (
    <Badge tone={of.localeFallback ? "warn" : "neutral"}>
      {of.locale}
      {of.localeFallback && ", a fallback"}
    </Badge>
  );
}
