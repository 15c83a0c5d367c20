import { Badge, Button, Time } from "../../kit";
import { useStore } from "../../store";
import type { Question } from "./asking";
import { asked } from "./asked";
import { STATUSES } from "./outcomes";

/** What was asked in this session, to be asked again. */
export function AskedBefore(props: { onAgain: (question: Question) => void }) {
  const all = useStore(asked);
  if (all.length === 0) return null;
  return (
    <details class="asked">
      <summary>Asked in this session ({all.length})</summary>
      <ol>
        {all.map((one) => (
          <li key={one.id}>
            <div class="break">
              <strong>{String(one.question.draft.query)}</strong>
              <div class="row muted small-text">
                <Time at={one.at} />
                {one.status && <Badge tone={STATUSES[one.status].tone}>{one.status}</Badge>}
                <span>
                  {one.agents ?? "no"} for agents, {one.customers ?? "none"} for customers
                </span>
              </div>
            </div>
            <Button
              small
              label={`Ask again: ${String(one.question.draft.query)}`}
              onClick={() => props.onAgain(one.question)}
            >
              Ask again
            </Button>
          </li>
        ))}
      </ol>
      <p class="muted small-text">This list is in the memory of this page alone.</p>
    </details>
  );
}
