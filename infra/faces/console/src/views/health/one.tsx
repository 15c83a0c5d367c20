import type { HappeningShown, OneHealthShown } from "../../api";
import { get, pathOf } from "../../call";
import {
  Again,
  Badge,
  Empty,
  Exposure,
  Facts,
  LinkButton,
  Loaded,
  Notice,
  Page,
  Section,
  Table,
  Time,
  type Column,
  Worded,
} from "../../kit";
import { useLoad } from "../../load";
import { href } from "../../router";
import { codeText, HAPPENINGS, KINDS, LOOKS, STATES, warningText } from "../../words";
import { Refresh } from "./refresh";
import { PoolTable } from "./pools";
import { Circuit } from "./circuits";
import { Gaps } from "./summary";

export function OneHealth({ id }: { id: string }) {
  const health = useLoad(
    async (signal) => (await get<OneHealthShown>(pathOf("knowledge/health", id), { signal })).data,
    [id],
  );
  return (
    <Page
      title={health.data?.provider.name ?? "Health of a provider"}
      back={{ href: href("health"), label: "Health of all" }}
      lead={health.data && <Lead of={health.data} />}
      actions={
        <>
          <LinkButton href={href("providers", id)}>Registration</LinkButton>
          <Refresh of={health} />
        </>
      }
    >
      <Loaded from={health}>{(data) => <Content of={data} />}</Loaded>
    </Page>
  );
}

function Lead({ of: { provider } }: { of: OneHealthShown }) {
  return (
    <span class="row">
      <Exposure of={provider.exposureProfile} /> {KINDS[provider.kind]} <code>{provider.id}</code>
    </span>
  );
}

function Content({ of }: { of: OneHealthShown }) {
  const { provider } = of;
  const { word, tone } = STATES[provider.state];
  const customers = provider.exposureProfile === "customer_safe";
  const noticeTone = tone === "neutral" || tone === "inside" ? "info" : tone;
  return (
    <>
      <Notice tone={noticeTone} title={provider.since ? undefined : word}>
        {provider.since && (
          <p class="notice-title">
            {word} since <Time at={provider.since} both />
          </p>
        )}
        <p>
          {provider.code && <code>{provider.code}</code>} <Worded of={provider.explanation} />
        </p>
        {provider.retryAt && (
          <p>
            It is asked <Again at={provider.retryAt} />.
          </p>
        )}
      </Notice>
      <Gaps of={of} />
      {provider.warnings.length > 0 && (
        <Notice tone="warn" title="Noticed at the last look or test">
          <ul>
            {provider.warnings.map((code) => (
              <li key={code}>
                <code>{code}</code> {warningText(code)}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <Section title="What is looked at">
        <Facts
          of={[
            ["The probe looks at", provider.looked ? LOOKS[provider.looked] : "not looked at since it was changed"],
            ["Last well at a look", <Time at={provider.lastWellAt} both />],
            ["Agents' searches", <Circuit of={provider.circuits.agent} />],
            ["Customers' searches", customers ? <Circuit of={provider.circuits.customer} /> : "do not reach it"],
          ]}
        />
      </Section>
      {of.pools.length > 0 && (
        <Section title="Its pool" plain>
          <PoolTable pools={of.pools} />
        </Section>
      )}
      <Section title="History of 30 days" plain>
        <History of={of.history} />
      </Section>
    </>
  );
}

const LANES = { agent: "Agents", customer: "Customers" } as const;

const COLUMNS: Column<HappeningShown>[] = [
  { head: "When", cell: (one) => <Time at={one.at} both /> },
  { head: "What", kind: "main", cell: (one) => HAPPENINGS[one.happening] },
  { head: "For", cell: (one) => (one.lane ? LANES[one.lane] : "") },
  { head: "State", cell: (one) => <Badge>{codeText(one.state)}</Badge> },
  { head: "Why", cell: (one) => (one.code ? <code>{one.code}</code> : "") },
  { head: "Until", cell: (one) => (one.until ? <Time at={one.until} /> : "") },
];

function History(props: { of: HappeningShown[] }) {
  return (
    <Table
      caption="What has changed, the newest first"
      columns={COLUMNS}
      rows={props.of}
      rowKey={(one, at) => `${one.at}${at}`}
      empty={
        <div class="card">
          <Empty title="Nothing has changed in 30 days" />
        </div>
      }
    />
  );
}
