import type { ComponentChildren } from "preact";

export type Tone = "neutral" | "ok" | "info" | "warn" | "bad" | "inside";

/** A word with a colour; the word alone has to say it. */
export function Badge(props: { tone?: Tone; children: ComponentChildren; title?: string | undefined; dot?: boolean }) {
  return (
    <span class={`badge ${props.tone ?? "neutral"}`} title={props.title}>
      {props.dot && <span class="dot" aria-hidden="true" />}
      {props.children}
    </span>
  );
}

/** How far passages may travel. */
export function Exposure(props: { of: "customer_safe" | "agent_only" }) {
  return props.of === "customer_safe" ? (
    <Badge tone="info" title="Its passages may reach customers">
      customer_safe
    </Badge>
  ) : (
    <Badge tone="inside" title="Its passages reach agents alone">
      agent_only
    </Badge>
  );
}
