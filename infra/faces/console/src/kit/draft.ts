// Forms from lists of fields: a draft of texts and ticks, and the body that it stands for.

export interface Spec {
  /** Where the value lies in the body: `name`, `config/approvedHosts`. It is its JSON pointer without the first slash. */
  at: string;
  label: string;
  as: "text" | "url" | "area" | "integer" | "number" | "lines" | "check" | "select";
  hint?: string;
  /** Left empty it is left out of a new thing, and null in a change. */
  optional?: boolean;
  first?: string | boolean;
  options?: { value: string; label: string }[];
  /** Fields with the same group stand together under it. */
  group?: string;
}

export type Draft = Record<string, string | boolean>;
type Json = Record<string, unknown>;

/** The draft of a new thing, or of `from` as the gateway shows it. */
export function draftOf(specs: Spec[], from?: object): Draft {
  return Object.fromEntries(
    specs.map((spec) => [spec.at, from ? written(valueAt(from, spec.at), spec) : (spec.first ?? blank(spec))]),
  );
}

/** The whole body; what is empty and optional is left out. */
export function bodyOf(specs: Spec[], draft: Draft): Json {
  const body: Json = {};
  for (const spec of specs) {
    const value = read(spec, draft[spec.at]);
    if (value !== null && value !== undefined) put(body, spec.at.split("/"), value);
  }
  return body;
}

/** Only the members of the body that differ from the thing as it was read. */
export function changesOf(specs: Spec[], draft: Draft, was: object): Json {
  const changes: Json = {};
  for (const member of new Set(specs.map((spec) => spec.at.split("/")[0] ?? ""))) {
    const own = specs.filter((spec) => spec.at.split("/")[0] === member);
    if (own.every((spec) => draft[spec.at] === written(valueAt(was, spec.at), spec))) continue;
    for (const spec of own) {
      const value = read(spec, draft[spec.at]);
      if (value !== undefined) put(changes, spec.at.split("/"), value);
    }
  }
  return changes;
}

function blank(spec: Spec): string | boolean {
  return spec.as === "check" ? false : (spec.options?.[0]?.value ?? "");
}

function written(value: unknown, spec: Spec): string | boolean {
  if (spec.as === "check") return value === true;
  if (Array.isArray(value)) return value.join("\n");
  return value === null || value === undefined ? "" : String(value);
}

// A number that is none goes as it was typed: the gateway says at the field what is wrong with it.
function read(spec: Spec, typed: string | boolean | undefined): unknown {
  if (typeof typed !== "string") return typed;
  const text = spec.as === "area" ? typed : typed.trim();
  if (spec.as === "lines")
    return text
      .split(/[\n,]/)
      .map((line) => line.trim())
      .filter(Boolean);
  if (text === "") return spec.optional ? null : spec.as === "integer" || spec.as === "number" ? undefined : "";
  if (spec.as === "integer" || spec.as === "number") return Number.isFinite(Number(text)) ? Number(text) : text;
  return text;
}

function valueAt(from: object, at: string): unknown {
  return at.split("/").reduce<unknown>((value, name) => (value as Json | null | undefined)?.[name], from);
}

function put(body: Json, path: string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) body[name] = value;
  else put((body[name] ??= {}) as Json, rest, value);
}
