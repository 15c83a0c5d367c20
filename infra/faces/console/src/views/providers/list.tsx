import { useState } from "preact/hooks";
import type { ProviderShown } from "../../api";
import {
  Button,
  Cut,
  Empty,
  Exposure,
  Loaded,
  Page,
  SelectField,
  Table,
  TextField,
  type Column,
  type Option,
} from "../../kit";
import { useLoad } from "../../load";
import { named } from "../../naming";
import { href, note } from "../../router";
import { counted, KINDS, STATUSES } from "../../words";
import { Allowed, StatusBadge } from "./badges";
import { readAll } from "./calls";
import { Create } from "./create";

const COLUMNS: Column<ProviderShown>[] = [
  {
    head: "Provider",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("providers", one.id)}>{named(one)}</a>
        <div class="muted small-text">
          <code>{one.id}</code>
        </div>
      </>
    ),
  },
  { head: "Kind", cell: (one) => KINDS[one.kind] },
  { head: "Exposure", cell: (one) => <Exposure of={one.exposureProfile} /> },
  {
    head: "Status",
    cell: (one) => (
      <div class="row">
        <StatusBadge of={one} />
      </div>
    ),
  },
  {
    head: "Address",
    kind: "wide",
    cell: (one) => (
      <div class="row">
        <span class="small-text">
          <Cut text={one.baseUrl} />
        </span>{" "}
        <Allowed of={one} />
      </div>
    ),
  },
  { head: "Priority", kind: "num", cell: (one) => one.priority },
];

type Filters = Record<"q" | "exposure" | "status" | "kind", string>;

export function List({ query }: { query: URLSearchParams }) {
  const providers = useLoad(readAll, []);
  const [creating, setCreating] = useState(false);
  const filters: Filters = {
    q: query.get("q") ?? "",
    exposure: query.get("exposure") ?? "",
    status: query.get("status") ?? "",
    kind: query.get("kind") ?? "",
  };
  return (
    <Page
      title="Providers"
      lead="Where passages come from."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          Register a provider
        </Button>
      }
    >
      <Loaded from={providers} lines={8}>
        {(all) => <Filtered all={all} filters={filters} />}
      </Loaded>
      {creating && (
        <Create
          onClose={() => {
            setCreating(false);
            providers.reload();
          }}
        />
      )}
    </Page>
  );
}

function Filtered({ all, filters }: { all: ProviderShown[]; filters: Filters }) {
  const rows = all.filter((one) => fits(one, filters)).sort((a, b) => a.name.localeCompare(b.name));
  const set = (name: keyof Filters) => (value: string) => note(name, value);
  return (
    <>
      <search class="filters">
        <TextField label="Find" type="search" value={filters.q} onValue={set("q")} placeholder="Name, id or address" />
        <SelectField label="Exposure" value={filters.exposure} onValue={set("exposure")} options={EXPOSURES} />
        <SelectField label="Status" value={filters.status} onValue={set("status")} options={STATES} />
        <SelectField label="Kind" value={filters.kind} onValue={set("kind")} options={KIND_OPTIONS} />
      </search>
      <p class="muted small-text" role="status">
        {rows.length === all.length
          ? counted(all.length, "provider")
          : `${rows.length} of ${counted(all.length, "provider")}`}
      </p>
      <Table
        caption="Providers"
        columns={COLUMNS}
        rows={rows}
        rowKey={(one) => one.id}
        empty={
          <div class="card">
            <Empty title={all.length === 0 ? "No provider is registered" : "No provider fits"}>
              {all.length === 0 ? "Register your own service, or a live one." : "Change what you filter by."}
            </Empty>
          </div>
        }
      />
    </>
  );
}

const EXPOSURES: Option[] = [
  ["", "All"],
  ["customer_safe", "customer_safe"],
  ["agent_only", "agent_only"],
].map(option);
const STATES: Option[] = [
  ["", "All"],
  ...Object.entries(STATUSES).map(([status, { word }]) => [status, word]),
  ["needs_test", "Needs a test"],
].map(option);
const KIND_OPTIONS: Option[] = [["", "All"], ...Object.entries(KINDS)].map(option);

function option([value = "", label = ""]: string[]): Option {
  return { value, label };
}

function fits(one: ProviderShown, { q, exposure, status, kind }: Filters): boolean {
  const text = `${one.name} ${one.id} ${one.baseUrl} ${one.module ?? ""}`.toLowerCase();
  return (
    text.includes(q.trim().toLowerCase()) &&
    (exposure === "" || one.exposureProfile === exposure) &&
    (status === "" || (status === "needs_test" ? one.needsTest : one.status === status)) &&
    (kind === "" || one.kind === kind)
  );
}
