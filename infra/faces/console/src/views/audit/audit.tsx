import { useMemo } from "preact/hooks";
import type { AuditEntryShown, AuditPage } from "../../api";
import { get } from "../../call";
import { Button, Empty, Page, ProblemBox, SelectField, Skeleton, TextField } from "../../kit";
import { usePages } from "../../load";
import { note } from "../../router";
import { counted } from "../../words";
import type { ViewProps } from "../../views";
import { Entries } from "./entries";
import { KINDS } from "./places";

interface Filters {
  q: string;
  kind: string;
  action: string;
}

/** Who changed what, the newest first. */
export function AuditView({ query }: ViewProps) {
  const pages = usePages(readPage, []);
  const filters = { q: query.get("q") ?? "", kind: query.get("kind") ?? "", action: query.get("action") ?? "" };
  return (
    <Page
      title="Audit"
      lead="What admins changed, the newest first. Entries are kept for 400 days, and nobody can change one."
      actions={
        <Button onClick={pages.reload} busy={pages.busy && pages.rows !== null}>
          Refresh
        </Button>
      }
    >
      {pages.problem && <ProblemBox of={pages.problem} onRetry={pages.rows ? pages.readOn : pages.reload} />}
      {pages.rows ? (
        <Filtered rows={pages.rows} filters={filters} more={pages.more} />
      ) : (
        !pages.problem && <Skeleton lines={8} />
      )}
      {pages.rows && pages.more && (
        <div class="row">
          <Button onClick={pages.readOn} busy={pages.busy}>
            Read earlier entries
          </Button>
        </div>
      )}
    </Page>
  );
}

async function readPage(cursor: string | null, signal: AbortSignal) {
  const { data } = await get<AuditPage>("audit", { query: { limit: 100, cursor }, signal });
  return { rows: data.entries, nextCursor: data.nextCursor };
}

function Filtered({ rows, filters, more }: { rows: AuditEntryShown[]; filters: Filters; more: boolean }) {
  const found = rows.filter((one) => fits(one, filters));
  const actions = useMemo(() => [...new Set(rows.map(({ action }) => action))].sort(), [rows]);
  return (
    <>
      <search class="filters">
        <TextField
          label="Find"
          type="search"
          value={filters.q}
          onValue={(value) => note("q", value)}
          placeholder="Id, actor or value"
        />
        <SelectField
          label="About"
          value={filters.kind}
          onValue={(value) => note("kind", value)}
          options={KINDS.map(([value, label]) => ({ value, label }))}
        />
        <SelectField
          label="Action"
          value={filters.action}
          onValue={(value) => note("action", value)}
          options={options(actions, filters.action)}
        />
      </search>
      <p class="muted small-text" role="status">
        {found.length === rows.length
          ? counted(rows.length, "entry", "entries")
          : `${found.length} of ${counted(rows.length, "entry", "entries")}`}
        {more &&
          ` read so far. The gateway does not search its audit: ${narrowed(filters) ? "earlier entries are looked through once they are read." : "filters look through what is read."}`}
      </p>
      {found.length > 0 ? (
        <Entries rows={found} />
      ) : (
        <div class="card">
          <Empty title={rows.length === 0 ? "Nothing was changed yet" : "None of the entries read so far fits"}>
            {more && "Read earlier entries, or change what you filter by."}
          </Empty>
        </div>
      )}
    </>
  );
}

function options(actions: string[], chosen: string) {
  const all = chosen === "" || actions.includes(chosen) ? actions : [chosen, ...actions];
  return [{ value: "", label: "All" }, ...all.map((value) => ({ value, label: value }))];
}

function narrowed({ q, kind, action }: Filters): boolean {
  return q !== "" || kind !== "" || action !== "";
}

function fits(one: AuditEntryShown, { q, kind, action }: Filters): boolean {
  const text = `${one.actor} ${one.action} ${one.resource} ${JSON.stringify([one.before, one.after])}`.toLowerCase();
  return (
    text.includes(q.trim().toLowerCase()) &&
    (kind === "" || one.resource.startsWith(`${kind}/`)) &&
    (action === "" || one.action === action)
  );
}
