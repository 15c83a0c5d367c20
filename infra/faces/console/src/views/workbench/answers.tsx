import { useState } from "preact/hooks";
import { Badge, Notice, OutsideLink, ProblemBox, Section, Tabs, type Tab } from "../../kit";
import { counted } from "../../words";
import { agentBody, customerBody, unsaid, type Answers } from "./asking";
import { CardPairs } from "./card_pairs";
import { cardPairs, passagePairs, type PassagePair } from "./compare";
import { STATUSES, TONES } from "./outcomes";
import { PassagePairs } from "./passage_pairs";
import { Raw } from "./raw";
import type { Sources } from "./sources";
import { TimeLine } from "./time_line";

/** Everything that came back, for both. */
export function AnswersShown({ of, sources }: { of: Answers; sources: Sources }) {
  const [tab, setTab] = useState("passages");
  const { agent, customer } = of;
  const pairs = passagePairs(agent.answer, customer.answer);
  const tabs = tabsOf(of, pairs.length);
  const current = tabs.some(({ id }) => id === tab) ? tab : "passages";
  return (
    <>
      <Glance of={of} pairs={pairs} />
      {agent.problem && (
        <Section title="Agents got no answer">
          <ProblemBox of={agent.problem} />
        </Section>
      )}
      {customer.problem && (
        <Section title="Customers got no answer">
          <ProblemBox of={customer.problem} />
        </Section>
      )}
      <Tabs label="The answers" tabs={tabs} current={current} onCurrent={setTab}>
        {current === "passages" && <PassagePairs pairs={pairs} hasCustomers={customer.answer !== null} />}
        {current === "providers" && agent.answer && (
          <TimeLine outcomes={agent.answer.providers} deadlineMs={of.deadlineMs} sources={sources} />
        )}
        {current === "cards" && <Cards of={of} />}
        {current === "places" && <Discoveries of={of} />}
        {current === "raw" && <RawAnswers of={of} />}
      </Tabs>
    </>
  );
}

function tabsOf({ agent: { answer }, question }: Answers, passages: number): Tab[] {
  return [
    { id: "passages", label: `Passages (${passages})` },
    ...(answer ? [{ id: "providers", label: `Providers (${answer.providers.length})` }] : []),
    ...(question.collections.length > 0 && answer
      ? [{ id: "cards", label: `Cards (${answer.cards?.length ?? 0})` }]
      : []),
    ...(answer?.discoveries.length
      ? [{ id: "places", label: `Places to look further (${answer.discoveries.length})` }]
      : []),
    { id: "raw", label: "Raw JSON" },
  ];
}

function RawAnswers({ of }: { of: Answers }) {
  return (
    <Section title="As it was sent and answered">
      <Raw label="Agent's question" of={agentBody(of.question)} />
      <Raw label="Agent's answer" of={of.agent.answer} open />
      <Raw label="Customer's question" of={customerBody(of.question)} />
      <Raw label="Customer's answer" of={of.customer.answer} open />
    </Section>
  );
}

function Glance({ of, pairs }: { of: Answers; pairs: PassagePair[] }) {
  const { agent, customer } = of;
  if (!agent.answer) return null;
  const { status, returnedLocale } = agent.answer;
  const hidden = pairs.filter((pair) => pair.agent && !pair.customer).length;
  const missing = unsaid(of.question);
  const silent = agent.answer.providers.filter((one) => one.errorCode !== null);
  return (
    <section class={`card overall ${STATUSES[status].tone}`} aria-label="At a glance">
      <div class="overall-head">
        <Badge tone={STATUSES[status].tone} dot>
          {status}
        </Badge>
        <p>{STATUSES[status].means}</p>
        <p class="muted small-text">
          Agents waited {agent.tookMs} ms{customer.answer && `, customers ${customer.tookMs} ms`}
        </p>
      </div>
      <ul class="glance">
        <Figure count={agent.answer.results.length} label="for agents" />
        <Figure count={customer.answer?.results.length ?? null} label="for customers" />
        <Figure count={customer.answer ? hidden : null} label="not shown to customers" inside={hidden > 0} />
        <li>
          <strong>{returnedLocale ?? "mixed or not known"}</strong> <span class="muted">returned locale</span>
        </li>
      </ul>
      {silent.length > 0 && (
        <ul class="silent">
          {silent.map((one) => (
            <li key={one.id}>
              <Badge tone={TONES[one.status]}>{one.status}</Badge> <span class="break">{one.name ?? one.id}</span>{" "}
              <code>{one.errorCode}</code>
            </li>
          ))}
        </ul>
      )}
      {agent.fromMemory && (
        <Notice tone="warn">
          <p>The gateway's store could not be used: agents were answered from memory.</p>
        </Notice>
      )}
      {missing.length > 0 && <p class="muted small-text">Said by agents alone: {missing.join(", ")}.</p>}
    </section>
  );
}

function Figure(props: { count: number | null; label: string; inside?: boolean }) {
  return (
    <li class={props.inside ? "inside" : ""}>
      <strong>{props.count ?? "–"}</strong> <span class="muted">{props.label}</span>
    </li>
  );
}

function Cards({ of: { agent, customer, question } }: { of: Answers }) {
  if (question.collections.length === 0 || !agent.answer) return null;
  const { cards = [], cardsStatus } = agent.answer;
  return (
    <Section
      title="Cards of the named collections"
      plain
      actions={cardsStatus && <Badge tone={cardsStatus === "complete" ? "ok" : "warn"}>{cardsStatus}</Badge>}
    >
      {cardsStatus !== "complete" && (
        <Notice tone="warn">
          <p>Not every collection could be looked through in time. A later question has them.</p>
        </Notice>
      )}
      <CardPairs pairs={cardPairs(cards, customer.answer?.cards ?? [])} />
    </Section>
  );
}

function Discoveries({ of: { agent } }: { of: Answers }) {
  const found = agent.answer?.discoveries ?? [];
  if (found.length === 0) return null;
  return (
    <Section title="Places to look further" actions={<Badge tone="inside">Agents alone</Badge>}>
      <p class="muted small-text">
        {counted(found.length, "citation")} without text. An agent can fetch the text of one.
      </p>
      <ul class="places">
        {found.map((one, at) => (
          <li key={at}>
            <OutsideLink url={one.url}>{one.title ?? one.url}</OutsideLink>
            <div class="muted small-text break">
              {one.provider.name}
              {one.library && ` · ${one.library} ${one.libraryVersion ?? ""}`} · {one.url}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
