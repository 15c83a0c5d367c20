import type { CustomerCardOut } from "../../api";
import { Empty, Exposure } from "../../kit";
import { href } from "../../router";
import { isAgentOnly, type CardPair } from "./compare";
import { Both, Pair } from "./pair";
import { Snippet } from "./snippet";

/** Cards as agents and customers are given them; a body is shown as it is written. */
export function CardPairs({ pairs }: { pairs: CardPair[] }) {
  if (pairs.length === 0)
    return (
      <div class="card">
        <Empty title="No card fits" />
      </div>
    );
  return (
    <Both>
      {pairs.map(({ agent, customer }, at) => (
        <Pair
          key={at}
          hidden={agent !== null && customer === null}
          why={agent ? whyNot(agent.collectionId) : "Not in the agent's answer."}
          agent={
            agent && (
              <Card of={agent}>
                <Exposure of={isAgentOnly(agent.collectionId) ? "agent_only" : "customer_safe"} />
                <a class="small-text" href={href("cards", agent.collectionId)}>
                  <code>{agent.id}</code>
                </a>
              </Card>
            )
          }
          customer={customer && <Card of={customer} />}
        />
      ))}
    </Both>
  );
}

function whyNot(collectionId: string): string {
  return isAgentOnly(collectionId)
    ? "Its collection is agent_only: no customer is ever shown it."
    : "Its collection is customer_safe, but the card is not in the customer's answer.";
}

function Card({ of, children }: { of: CustomerCardOut; children?: preact.ComponentChildren }) {
  return (
    <>
      <p class="passage-title">{of.title}</p>
      <p class="row small-text">
        {children}
        <span class="muted break">{of.keys.join(", ")}</span>
      </p>
      <Snippet of={of.body} about={of.title} />
    </>
  );
}
