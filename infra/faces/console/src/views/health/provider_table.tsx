import type { ProviderHealthShown } from "../../api";
import { Again, Badge, Empty, Exposure, Table, Time, type Column, Worded } from "../../kit";
import { named } from "../../naming";
import { href } from "../../router";
import { KINDS, STATES, warningText } from "../../words";
import { Circuits } from "./circuits";

const COLUMNS: Column<ProviderHealthShown>[] = [
  {
    head: "Provider",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("health", one.id)}>{named(one)}</a>
        <div class="row tags">
          <Exposure of={one.exposureProfile} />
          <span class="muted small-text">{KINDS[one.kind]}</span>
        </div>
      </>
    ),
  },
  { head: "State", cell: (one) => <State of={one} /> },
  { head: "What is known", kind: "wide", cell: (one) => <Known of={one} /> },
  { head: "Circuits", cell: (one) => <Circuits of={one} /> },
];

/** The gateway lists the worst first. */
export function ProviderTable(props: { providers: ProviderHealthShown[] }) {
  return (
    <Table
      caption="Providers, the worst first"
      columns={COLUMNS}
      rows={props.providers}
      rowKey={(one) => one.id}
      empty={
        <div class="card">
          <Empty title="No provider is registered">
            <a href={href("providers")}>Register one</a>
          </Empty>
        </div>
      }
    />
  );
}

export function State({ of }: { of: ProviderHealthShown }) {
  const { word, tone } = STATES[of.state];
  return (
    <div class="state">
      <Badge tone={tone} dot>
        {word}
      </Badge>
      {of.since && (
        <div class="muted small-text">
          since <Time at={of.since} />
        </div>
      )}
    </div>
  );
}

function Known({ of }: { of: ProviderHealthShown }) {
  if (of.state === "healthy" && of.warnings.length === 0) {
    return (
      <span class="muted small-text">
        Well at the last look
        {of.lastWellAt && (
          <>
            , as since <Time at={of.lastWellAt} />
          </>
        )}
        .
      </span>
    );
  }
  return (
    <div class="stack tight small-text">
      <p>
        {of.code && <code>{of.code}</code>} <Worded of={of.explanation} />
      </p>
      {of.retryAt && (
        <p class="muted">
          Asked <Again at={of.retryAt} />
        </p>
      )}
      {of.warnings.length > 0 && (
        <ul class="warnings">
          {of.warnings.map((code) => (
            <li key={code}>{warningText(code)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
