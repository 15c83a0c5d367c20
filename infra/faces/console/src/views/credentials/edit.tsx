import { useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { change, readOne, type Read } from "./calls";
import { changesFor, draftFor } from "./draft";
import { CredentialFields, wrongOrigins } from "./fields";

interface Props {
  of: Read;
  onRead: (read: Read) => void;
  onClose: () => void;
}

export function Edit({ of, onRead, onClose }: Props) {
  const { credential } = of;
  const [draft, setDraft] = useState(() => draftFor(credential));
  const [strict, setStrict] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const saving = useAction(async () => {
    const changes = changesFor(credential, draft);
    if (Object.keys(changes).length > 0) {
      onRead(await change(of, changes));
      announce("Saved.");
    }
    onClose();
  });
  const rereading = useAction(async () => {
    const now = await readOne(credential.id);
    onRead(now);
    setDraft(draftFor(now.credential));
    saving.clear();
  });
  const submit = () => {
    if (wrongOrigins(credential.class, draft) === null) return void saving.run();
    setStrict(true);
    box.current?.querySelector<HTMLElement>("textarea")?.focus();
  };
  return (
    <Dialog title={`Edit ${isolated(credential.name)}`} onClose={onClose}>
      <div ref={box}>
        <Form onSubmit={submit} problem={saving.problem} onReload={() => void rereading.run()}>
          <CredentialFields kind={credential.class} draft={draft} onDraft={setDraft} strict={strict} />
          <FormFoot>
            <Cancel onClick={onClose} />
            <Button type="submit" kind="primary" busy={saving.busy}>
              Save
            </Button>
          </FormFoot>
        </Form>
      </div>
    </Dialog>
  );
}
