import type { CircuitShown, ProviderHealthShown } from "../../api";
import { Badge, Empty, Exposure, Table, Time, type Column } from "../../kit";
import { href } from "../../router";
import { codeText, KINDS, STATES, warningText } from "../../words";

const COLUMNS: Column<ProviderHealthShown>[] = [
  {
    head: "Provider",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("health", one.id)}>{one.name}</a>
        <div class="row tags"><Exposure of={one.exposureProfile} /><span class="muted small-text">{KINDS[one.kind]}</span></div>
      </>
    ),
  },
  { head: "State", cell: (one) => <State of={one} /> },
  { head: "What is known", kind: "wide", cell: (one) => <Known of={one} /> },
  { head: "Agents' circuit", cell: (one) => <Circuit of={one.circuits.agent} /> },
  { head: "Customers' circuit", cell: (one) => <Circuit of={one.circuits.customer} reaches={one.exposureProfile === "customer_safe"} /> },
];

/** The gateway lists the worst first. */
export function ProviderTable(props: { providers: ProviderHealthShown[] }) {
  return (
    <Table
      caption="Providers, the worst first"
      columns={COLUMNS}
      rows={props.providers}
      rowKey={(one) => one.id}
      empty={<div class="card"><Empty title="No provider is registered"><a href={href("providers")}>Register one</a></Empty></div>}
    />
  );
}

export function State({ of }: { of: ProviderHealthShown }) {
  const { word, tone } = STATES[of.state];
  return (
    <div class="stack tight state">
      <span><Badge tone={tone} dot>{word}</Badge></span>
      {of.since && <span class="muted small-text">since <Time at={of.since} /></span>}
    </div>
  );
}

function Known({ of }: { of: ProviderHealthShown }) {
  if (of.state === "healthy" && of.warnings.length === 0) {
    return <span class="muted small-text">Well at the last look{of.lastWellAt && <>, as since <Time at={of.lastWellAt} /></>}.</span>;
  }
  return (
    <div class="stack tight small-text">
      <p>{of.code && <code>{of.code}</code>} {of.explanation}</p>
      {of.retryAt && <p class="muted">Asked again <Time at={of.retryAt} /></p>}
      {of.warnings.length > 0 && <ul class="warnings">{of.warnings.map((code) => <li key={code}>{warningText(code)}</li>)}</ul>}
    </div>
  );
}

const CIRCUITS: Record<CircuitShown["state"], { word: string; tone: "ok" | "warn" | "bad" }> = {
  closed: { word: "Closed", tone: "ok" },
  half_open: { word: "On trial", tone: "warn" },
  open: { word: "Open", tone: "bad" },
  auto_disabled: { word: "Out of use", tone: "bad" },
};

export function Circuit(props: { of: CircuitShown | null; reaches?: boolean }) {
  const { of, reaches = true } = props;
  if (!reaches) return <span class="muted small-text">not reached</span>;
  if (of === null) return <span class="muted small-text">not known</span>;
  const { word, tone } = CIRCUITS[of.state];
  return (
    <div class="stack tight small-text">
      <span><Badge tone={tone}>{word}</Badge></span>
      {of.openUntil && <span class="muted">until <Time at={of.openUntil} /></span>}
      {of.failures > 0 && <span class="muted nowrap">{of.failures} failed{of.lastCode && `: ${codeText(of.lastCode)}`}</span>}
    </div>
  );
}
