import type { PoolHealthShown } from "../../api";
import { Again, Badge, Table, type Column } from "../../kit";

const COLUMNS: Column<PoolHealthShown>[] = [
  { head: "Pool", kind: "main", cell: (one) => one.pool },
  { head: "Keys", cell: (one) => <Keys of={one} /> },
  { head: "Used in 24 hours", cell: (one) => <Allowance of={one.allowance} /> },
  { head: "Asked again", cell: (one) => (one.retryAt ? <Again at={one.retryAt} /> : <span class="muted">–</span>) },
];

/** Keys and allowances of the live services, briefly; the view of pools has the rest. */
export function PoolTable(props: { pools: PoolHealthShown[] }) {
  return <Table caption="Pools of live services" columns={COLUMNS} rows={props.pools} rowKey={(one) => one.pool} />;
}

function Keys({ of }: { of: PoolHealthShown }) {
  if (!of.takesKeys) return <span class="muted">needs none</span>;
  if (of.configured === null) return <span class="muted">not known</span>;
  if (of.configured === 0) return <Badge tone="warn">No key</Badge>;
  return (
    <span class="row">
      <span class="nowrap">
        {of.usable ?? "?"} of {of.configured} usable
      </span>
      {!!of.resting && <Badge tone="warn">{of.resting} resting</Badge>}
    </span>
  );
}

function Allowance({ of }: { of: PoolHealthShown["allowance"] }) {
  if (of === null) return <span class="muted">not known</span>;
  if (of.limit === 0) return <Badge tone="warn">Closed</Badge>;
  const share = Math.min(100, Math.round((100 * of.used) / of.limit));
  return (
    <div class="allowance">
      <span>
        {of.used} of {of.limit}
        {of.unknown > 0 && <span class="muted"> · {of.unknown} unknown</span>}
      </span>
      <span class={share >= 90 ? "meter bad" : share >= 70 ? "meter warn" : "meter"} aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
    </div>
  );
}
