import { useRef, useState } from "preact/hooks";
import type { CredentialClass } from "../../api";
import { announce } from "../../announce";
import { Button, ChoiceField, Dialog, Form, FormFoot, Notice, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { Intent } from "../../intent";
import { useAction } from "../../load";
import { create, type Issued } from "./calls";
import { CLASSES } from "./classes";
import { BLANK, bodyFor, type Draft } from "./draft";
import { CredentialFields, wrongOrigins } from "./fields";
import { TokenOnce } from "./token_once";

const CHOICES = Object.entries(CLASSES).map(([value, { name, hint }]) => ({
  value,
  label: `${name} (${value})`,
  hint,
}));

/** Issues a credential of any class, and shows its token once. */
export function Create({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Issued | null>(null);
  return (
    <Dialog
      title={made ? `Token of ${isolated(made.credential.name)}` : "Issue a credential"}
      onClose={onClose}

      wide={!made}
    >
      {made ? <TokenOnce of={made} onDone={onClose} /> : <CreateForm onMade={setMade} onClose={onClose} />}
    </Dialog>
  );
}

function CreateForm({ onMade, onClose }: { onMade: (made: Issued) => void; onClose: () => void }) {
  const [kind, setKind] = useState<CredentialClass>("pub");
  const [draft, setDraft] = useState<Draft>(BLANK);
  const [strict, setStrict] = useState(false);
  const intent = useRef(new Intent());
  const box = useRef<HTMLDivElement>(null);
  const making = useAction(async () => {
    onMade(await create({ class: kind, ...bodyFor(kind, draft) }, intent.current));
    announce("The credential is issued.");
  });
  const submit = () => {
    if (wrongOrigins(kind, draft) === null) return void making.run();
    setStrict(true);
    box.current?.querySelector<HTMLElement>("textarea")?.focus();
  };
  const choose = (value: string) => {
    setKind(value as CredentialClass);
    // An assistant without its grant reaches nothing, so it is offered with it; an agent's grant is never offered.
    setDraft({ ...draft, granted: value === "ast" });
    making.clear();
  };
  return (
    <div ref={box}>
      <Form onSubmit={submit} problem={making.problem}>
        <ChoiceField label="Class" value={kind} onValue={choose} options={CHOICES} pointer="/class" />
        {kind === "adm" && (
          <Notice tone="warn">
            <p>
              Whoever has this token can change and delete everything, and issue more tokens. Give each person their
              own.
            </p>
          </Notice>
        )}
        <CredentialFields kind={kind} draft={draft} onDraft={setDraft} strict={strict} />
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind="primary" busy={making.busy}>
            Issue
          </Button>
        </FormFoot>
      </Form>
    </div>
  );
}
