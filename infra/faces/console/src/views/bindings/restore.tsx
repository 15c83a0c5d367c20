import { useState } from "preact/hooks";
import type { ProviderShown } from "../../api";
import { announce } from "../../announce";
import { pathOf, post } from "../../call";
import { Button, Dialog, Form, FormFoot, TextField, Cancel } from "../../kit";
import { useAction } from "../../load";
import type { Read } from "../providers/calls";
import { TestFailure } from "../providers/test_failure";

/** Sets config and limits back to what a new binding would have; the search is tried first. */
export function Restore(props: { of: Read; onRead: (read: Read) => void; onClose: () => void }) {
  const [testQuery, setTestQuery] = useState("");
  const restoring = useAction(async () => {
    const path = pathOf("knowledge/providers", props.of.provider.id, "restore-defaults");
    const { data, etag } = await post<ProviderShown>(path, { testQuery }, { ifMatch: props.of.etag });
    props.onRead({ provider: data, etag });
    announce("The defaults are restored.");
    props.onClose();
  });
  return (
    <Dialog title="Restore defaults" onClose={props.onClose}>
      <Form onSubmit={() => void restoring.run()} problem={restoring.problem}>
        <TestFailure of={restoring.problem} />
        <p>
          How it is searched and its three limits go back to what a new binding would have. Its name and its priority
          stay.
        </p>
        <TextField
          label="Test query"
          value={testQuery}
          onValue={setTestQuery}
          pointer="/testQuery"
          hint="Asked for real, once, before anything is saved."
        />
        <FormFoot>
          <Cancel onClick={props.onClose} />
          <Button type="submit" kind="primary" busy={restoring.busy}>
            Test and restore
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
