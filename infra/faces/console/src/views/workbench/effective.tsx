import type { ComponentChildren } from "preact";
import type { ProviderShown } from "../../api";
import { Facts } from "../../kit";

const LEFT_OUT: ReadonlySet<string> = new Set([
  "id",
  "name",
  "kind",
  "exposureProfile",
  "config",
  "capabilities",
  "createdAt",
  "updatedAt",
  "statusReason",
  "rotation",
]);

/** The registration of a provider as it is now, short: how it is asked and what it can do. */
export function Effective({ of }: { of: ProviderShown }) {
  const plain = Object.entries(of).filter(([name]) => !LEFT_OUT.has(name));
  const config = "config" in of ? Object.entries(of.config) : [];
  const able =
    "capabilities" in of
      ? Object.entries(of.capabilities)
          .filter(([, can]) => can)
          .map(([name]) => name)
      : null;
  const facts: [string, ComponentChildren][] = [
    ...[...plain, ...config.map(([name, value]): [string, unknown] => [`config ${name}`, value])].map(
      ([name, value]): [string, ComponentChildren] => [name, <code>{written(value)}</code>],
    ),
    ...(able ? [["capabilities", <code>{able.join(", ") || "none"}</code>] as [string, ComponentChildren]] : []),
  ];
  return (
    <details class="small-text">
      <summary>Effective config</summary>
      <Facts of={facts} />
    </details>
  );
}

function written(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ") || "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
