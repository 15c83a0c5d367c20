import { useState } from "preact/hooks";
import type { KeyShown, PoolShown } from "../../api";
import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Notice, SelectField, Time, Cancel } from "../../kit";
import { useAction } from "../../load";
import { rest } from "./calls";

const TIMES = [
  ["900", "15 minutes"],
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["2678400", "31 days, the most"],
].map(([value = "", label = ""]) => ({ value, label }));

interface Props {
  pool: PoolShown;
  of: KeyShown;
  onChanged: (pool: PoolShown) => void;
  onClose: () => void;
}

/** Lets one key rest. */
export function Rest({ pool, of, onChanged, onClose }: Props) {
  const [seconds, setSeconds] = useState("3600");
  const resting = useAction(async () => {
    onChanged(await rest(pool.pool, of.name, Number(seconds)));
    announce(`${of.name} rests.`);
    onClose();
  });
  const last = pool.usable === 1 && of.state !== "resting";
  return (
    <Dialog title={`Let ${of.name} rest`} onClose={onClose}>
      <Form onSubmit={() => void resting.run()} problem={resting.problem}>
        <p>Nothing is sent with it until then. It is audited.</p>
        {of.restingUntil && (
          <p>
            It rests until <Time at={of.restingUntil} both /> already: a shorter rest changes nothing.
          </p>
        )}
        {last && (
          <Notice tone="warn">
            <p>It is the last key that does not rest: nothing is sent to this service until it wakes.</p>
          </Notice>
        )}
        <SelectField label="For" value={seconds} onValue={setSeconds} options={TIMES} pointer="/seconds" />
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind={last ? "danger" : "primary"} busy={resting.busy}>
            Let it rest
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
