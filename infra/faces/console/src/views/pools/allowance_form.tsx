import { useState } from "preact/hooks";
import type { AllowancePut, AllowanceShown } from "../../api";
import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Notice, TextField, Cancel } from "../../kit";
import { useAction } from "../../load";
import { counted, KINDS } from "../../words";
import { changeAllowance, readAllowance } from "./calls";

interface Props {
  of: AllowanceShown;
  onChanged: (allowance: AllowanceShown) => void;
  onClose: () => void;
}

/** The limit of 24 hours, and what was found out about unknown operations. */
export function ChangeAllowance({ of: first, onChanged, onClose }: Props) {
  const [of, setOf] = useState(first);
  const [limit, setLimit] = useState(String(first.limit));
  const [happened, setHappened] = useState("");
  const [didNot, setDidNot] = useState("");
  const saving = useAction(async () => {
    onChanged(await changeAllowance(of, body(limit, happened, didNot)));
    announce("The allowance is changed.");
    onClose();
  });
  const rereading = useAction(async () => {
    const now = await readAllowance(of.pool);
    setOf(now);
    onChanged(now);
    saving.clear();
  });
  return (
    <Dialog title={`Allowance of ${KINDS[of.pool]}`} onClose={onClose}>
      <Form onSubmit={() => void saving.run()} problem={saving.problem} onReload={() => void rereading.run()}>
        <p>
          Operations of this gateway in any 24 hours; not money. <strong>{of.used}</strong> of {of.limit} are used now.
        </p>
        <TextField
          label="Operations in 24 hours"
          type="number"
          value={limit}
          onValue={setLimit}
          pointer="/limit"
          hint="0 closes it: nothing is sent any more."
        />
        {limit.trim() === "0" && (
          <Notice tone="warn">
            <p>At 0 no search and no acquisition reaches this service.</p>
          </Notice>
        )}
        {of.unknown > 0 && (
          <fieldset class="group">
            <legend>Review of {counted(of.unknown, "unknown operation")}</legend>
            <p class="field-hint">
              Nobody here knows whether these were made. Look them up at the service: what happened counts from now for
              24 hours, what did not is free at once.
            </p>
            <div class="two">
              <TextField
                label="Happened"
                type="number"
                value={happened}
                onValue={setHappened}
                pointer="/review/happened"
              />
              <TextField
                label="Did not happen"
                type="number"
                value={didNot}
                onValue={setDidNot}
                pointer="/review/didNotHappen"
              />
            </div>
          </fieldset>
        )}
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind={limit.trim() === "0" ? "danger" : "primary"} busy={saving.busy}>
            Save
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}

// What is no number goes as it was typed, and the gateway says so at the field.
function body(limit: string, happened: string, didNot: string): AllowancePut {
  const reviewed = {
    ...(happened.trim() && { happened: count(happened) }),
    ...(didNot.trim() && { didNotHappen: count(didNot) }),
  };
  const wanted = { limit: count(limit), ...(Object.keys(reviewed).length > 0 && { review: reviewed }) };
  return wanted as AllowancePut;
}

function count(text: string): number | string {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}
