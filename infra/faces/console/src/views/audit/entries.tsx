import type { AuditEntryShown } from "../../api";
import { Badge, Table, Time, type Column, type Tone } from "../../kit";
import { href } from "../../router";
import { placeOf } from "./places";

const COLUMNS: Column<AuditEntryShown>[] = [
  { head: "When", cell: (one) => <Time at={one.at} both /> },
  { head: "What", kind: "main", cell: (one) => <What of={one} /> },
  {
    head: "By",
    cell: (one) => (
      <a class="nowrap" href={href("credentials", one.actor)}>
        <code>{one.actor}</code>
      </a>
    ),
  },
  { head: "Changed", kind: "wide", cell: (one) => <Values of={one} /> },
];

export function Entries({ rows }: { rows: AuditEntryShown[] }) {
  return <Table caption="Changes, the newest first" columns={COLUMNS} rows={rows} rowKey={(one) => one.id} />;
}

function What({ of }: { of: AuditEntryShown }) {
  const place = placeOf(of.resource);
  return (
    <>
      <Badge tone={toneOf(of.action)}>{of.action}</Badge>
      <div class="small-text">
        {place ? (
          <a class="break" href={place}>
            {of.resource}
          </a>
        ) : (
          <span class="break">{of.resource}</span>
        )}
      </div>
      <div class="muted small-text">
        <Versions of={of} />
      </div>
    </>
  );
}

function toneOf(action: string): Tone {
  if (action.endsWith(".deleted")) return "bad";
  return action.endsWith(".created") || action.endsWith(".activated") ? "ok" : "neutral";
}

function Versions({ of: { generationBefore: before, generationAfter: after } }: { of: AuditEntryShown }) {
  if (before === null && after === null) return null;
  if (before === null) return <>version {after}</>;
  return after === null ? (
    <>was version {before}</>
  ) : (
    <>
      version {before} → {after}
    </>
  );
}

/** Old and new values, field by field; what is not there on one side is a dash. */
function Values({ of: { before, after } }: { of: AuditEntryShown }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  if (names.length === 0) return null;
  return (
    <dl class="changes">
      {names.map((name) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {name in before && (
              <del>
                <span class="hidden">before: </span>
                {written(before[name])}
              </del>
            )}
            {name in before && name in after && " "}
            {name in after && (
              <ins>
                <span class="hidden">after: </span>
                {written(after[name])}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function written(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.join(", ");
  return value === "" ? "empty" : String(value);
}
