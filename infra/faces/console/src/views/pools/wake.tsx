import type { KeyShown, PoolShown } from "../../api";
import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Cancel } from "../../kit";
import { useAction } from "../../load";
import { KINDS } from "../../words";
import { wake } from "./calls";

interface Props {
  pool: PoolShown;
  /** null: all of the pool. */
  of: KeyShown | null;
  onChanged: (pool: PoolShown) => void;
  onClose: () => void;
}

/** Ends rests before their time. */
export function Wake({ pool, of, onChanged, onClose }: Props) {
  const who = of?.name ?? (pool.takesKeys ? `all keys of ${KINDS[pool.pool]}` : KINDS[pool.pool]);
  const waking = useAction(async () => {
    onChanged(await wake(pool.pool, of?.name ?? null));
    announce(`Awake: ${who}.`);
    onClose();
  });
  return (
    <Dialog title={`Wake ${who}`} onClose={onClose}>
      <Form onSubmit={() => void waking.run()} problem={waking.problem}>
        <p>
          {pool.takesKeys
            ? "After an account was topped up, say. A key whose quota is still spent is refused once more, and rests again."
            : "The service asked to be left alone. The next search asks it again, also where its circuit was waiting for that time."}
        </p>
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind="primary" busy={waking.busy}>
            Wake
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
