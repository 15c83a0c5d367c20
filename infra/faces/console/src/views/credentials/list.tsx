import { useState } from "preact/hooks";
import type { CredentialShown } from "../../api";
import {
  Badge,
  Button,
  Cut,
  Empty,
  Loaded,
  Page,
  SelectField,
  Table,
  TextField,
  Time,
  type Column,
  type Option,
} from "../../kit";
import { useLoad } from "../../load";
import { named } from "../../naming";
import { href, note } from "../../router";
import { counted } from "../../words";
import { ClassBadge, StateBadge } from "./badges";
import { readAll } from "./calls";
import { CLASSES, stateOf, STATES } from "./classes";
import { Create } from "./create";

const COLUMNS: Column<CredentialShown>[] = [
  {
    head: "Credential",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("credentials", one.id)}>{named(one)}</a>
        <div class="muted small-text">
          <code>{one.id}</code>
        </div>
      </>
    ),
  },
  { head: "Class", cell: (one) => <ClassBadge of={one.class} /> },
  { head: "State", cell: (one) => <StateBadge of={one} /> },
  { head: "Reach", kind: "wide", cell: (one) => <Where of={one} /> },
  { head: "A minute", kind: "num", cell: (one) => one.ratePerMinute },
  { head: "Ends", cell: (one) => (one.expiresAt ? <Time at={one.expiresAt} /> : <span class="muted">never</span>) },
];

export function List({ query }: { query: URLSearchParams }) {
  const credentials = useLoad(readAll, []);
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Credentials"
      lead="Who may ask the gateway, from where, and how often."
      actions={
        <Button kind="primary" onClick={() => setCreating(true)}>
          Issue a credential
        </Button>
      }
    >
      <Loaded from={credentials} lines={6}>
        {(all) => <Filtered all={all} query={query} />}
      </Loaded>
      {creating && (
        <Create
          onClose={() => {
            setCreating(false);
            credentials.reload();
          }}
        />
      )}
    </Page>
  );
}

function Filtered({ all, query }: { all: CredentialShown[]; query: URLSearchParams }) {
  const q = query.get("q") ?? "";
  const kind = query.get("class") ?? "";
  const state = query.get("state") ?? "";
  const rows = all.filter((one) => fits(one, { q, kind, state }));
  return (
    <>
      <search class="filters">
        <TextField
          label="Find"
          type="search"
          value={q}
          onValue={(value) => note("q", value)}
          placeholder="Name, id, origin or fingerprint"
        />
        <SelectField label="Class" value={kind} onValue={(value) => note("class", value)} options={CLASS_OPTIONS} />
        <SelectField label="State" value={state} onValue={(value) => note("state", value)} options={STATE_OPTIONS} />
      </search>
      <p class="muted small-text" role="status">
        {rows.length === all.length
          ? counted(all.length, "credential")
          : `${rows.length} of ${counted(all.length, "credential")}`}
      </p>
      <Table
        caption="Credentials"
        columns={COLUMNS}
        rows={rows}
        rowKey={(one) => one.id}
        empty={
          <div class="card">
            <Empty title="No credential fits">Change what you filter by.</Empty>
          </div>
        }
      />
    </>
  );
}

const MOST_ORIGINS = 3;

function Where({ of }: { of: CredentialShown }) {
  return (
    <div class="small-text">
      {of.origins?.slice(0, MOST_ORIGINS).map((origin) => (
        <div key={origin}>
          <Cut text={origin} />
        </div>
      ))}
      {of.origins && of.origins.length > MOST_ORIGINS && (
        <div class="muted">and {of.origins.length - MOST_ORIGINS} more origins</div>
      )}
      {of.class === "adm" && <span class="muted">administers everything</span>}
      {of.class === "agt" && (
        <div>{of.allowedProviders ? `${counted(of.allowedProviders.length, "provider")} alone` : "all providers"}</div>
      )}
      {of.grants.map((grant) => (
        <Badge key={grant} tone={grant === "external_knowledge:agent" ? "warn" : "neutral"}>
          {grant}
        </Badge>
      ))}
      {of.class === "ast" && of.grants.length === 0 && <span class="muted">nothing: it has no grant</span>}
    </div>
  );
}

const CLASS_OPTIONS: Option[] = [
  { value: "", label: "All" },
  ...Object.entries(CLASSES).map(([value, { name }]) => ({ value, label: name })),
];
const STATE_OPTIONS: Option[] = [
  { value: "", label: "All" },
  ...Object.entries(STATES).map(([value, { word }]) => ({ value, label: word })),
];

function fits(one: CredentialShown, { q, kind, state }: { q: string; kind: string; state: string }): boolean {
  const text = `${one.name} ${one.id} ${(one.origins ?? []).join(" ")} ${one.secretFingerprint ?? ""}`.toLowerCase();
  return (
    text.includes(q.trim().toLowerCase()) &&
    (kind === "" || one.class === kind) &&
    (state === "" || stateOf(one) === state)
  );
}
