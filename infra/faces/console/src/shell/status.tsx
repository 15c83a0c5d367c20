import { said, unsay } from "../announce";
import { Button } from "../kit/button";
import { endsSoonMs, used } from "../session";
import { useStore } from "../store";

/** The live region. It is there from the start, as screen readers only hear of changes to what they know. */
export function Status() {
  const all = useStore(said);
  const soon = useStore(endsSoonMs);
  return (
    <div class="status" role="status" aria-live="polite">
      {soon !== null && (
        <div class="toast warn">
          <span>You are signed out in {Math.ceil(soon / 1000)} seconds unless you go on.</span>
          <Button small onClick={used}>
            Stay signed in
          </Button>
        </div>
      )}
      {all.map((one) => (
        <div key={one.id} class={`toast ${one.tone}`}>
          <span>{one.text}</span>
          <Button kind="quiet" small label="Dismiss" onClick={() => unsay(one.id)}>
            <span aria-hidden="true">✕</span>
          </Button>
        </div>
      ))}
    </div>
  );
}
