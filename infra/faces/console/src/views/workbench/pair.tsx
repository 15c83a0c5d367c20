import type { ComponentChildren } from "preact";

/** Two columns, one heading each; on a phone each half says whose it is. */
export function Both(props: { children: ComponentChildren }) {
  return (
    <div class="both">
      <div class="pair-heads" aria-hidden="true">
        <span>An agent is shown</span>
        <span>A customer is shown</span>
      </div>
      <ol class="pairs">{props.children}</ol>
    </div>
  );
}

interface Props {
  /** An agent sees it, and a customer does not. */
  hidden: boolean;
  agent: ComponentChildren;
  customer: ComponentChildren;
  /** Said in the place of the half that is missing. */
  why: string;
}

export function Pair({ hidden, agent, customer, why }: Props) {
  return (
    <li class={hidden ? "pair inside" : "pair"}>
      <div class="half">
        <span class="whose">Agent</span>
        {agent ?? <Missing title="Not in the agent's answer" why={why} />}
      </div>
      <div class="half">
        <span class="whose">Customer</span>
        {customer ?? <Missing title="Not shown to customers" why={why} />}
      </div>
    </li>
  );
}

function Missing({ title, why }: { title: string; why: string }) {
  return (
    <div class="missing">
      <p>
        <strong>{title}</strong>
      </p>
      <p class="small-text">{why}</p>
    </div>
  );
}
