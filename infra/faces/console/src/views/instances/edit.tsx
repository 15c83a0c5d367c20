import { useState } from "preact/hooks";
import type { Acknowledge, InstanceShown } from "../../api";
import { announce } from "../../announce";
import {
  askedBy,
  Button,
  ChoiceField,
  Dialog,
  Form,
  FormFoot,
  Notice,
  RiskQuestion,
  TextField,
  Cancel,
} from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { counted } from "../../words";
import { change, readOne, type Read } from "./calls";
import { consequencesOf, draftOf, patchOf, type Consequences, type Draft } from "./changes";
import { Authority, PublicOnly } from "./fields";
import { PRODUCTS } from "./products";

interface Props {
  of: Read;
  onChanged: (read: Read) => void;
  onClose: () => void;
}

/** Says what a change brings with it while it is typed, and sends only what differs. */
export function Edit(props: Props) {
  const { instance } = props.of;
  const [draft, setDraft] = useState(() => draftOf(instance));
  const [acknowledge, setAcknowledge] = useState<Acknowledge | null>(null);
  const consequences = consequencesOf(draft, instance);
  const set = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    if (part.baseUrl !== undefined) setAcknowledge(null);
  };
  const saving = useAction(async () => {
    const body = patchOf(draft, instance, acknowledge);
    const changed = Object.keys(body).length > 0;
    if (changed) props.onChanged(await change(props.of, body));
    announce(changed ? "Saved." : "Nothing was changed.");
    props.onClose();
  });
  const reread = useAction(async () => {
    const read = await readOne(instance.id);
    props.onChanged(read);
    setDraft(draftOf(read.instance));
    saving.clear();
  });
  const asked = askedBy(saving.problem);
  return (
    <Dialog title={`Change ${isolated(instance.name)}`} onClose={props.onClose} wide>
      <Form onSubmit={() => void saving.run()} problem={saving.problem} onReload={() => void reread.run()}>
        {asked && <RiskQuestion asked={asked} accepted={acknowledge} onAccepted={setAcknowledge} />}
        <TextField label="Name" value={draft.name} onValue={(name) => set({ name })} pointer="/name" />
        <TextField
          label="Base URL"
          mono
          value={draft.baseUrl}
          onValue={(baseUrl) => set({ baseUrl })}
          pointer="/baseUrl"
          hint={PRODUCTS[instance.kind].address}
        />
        <Moving of={instance} consequences={consequences} />
        <Credential of={instance} draft={draft} set={set} elsewhere={consequences.elsewhere} />
        {consequences.restate && (
          <PublicOnly again checked={draft.publicOnly} onValue={(publicOnly) => set({ publicOnly })} />
        )}
        <Authority
          value={draft.authority}
          onValue={(authority) => set({ authority })}
          open={instance.privateAuthority !== null}
        />
        <FormFoot>
          <Cancel onClick={props.onClose} />
          <Button type="submit" kind="primary" busy={saving.busy}>
            Save
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}

// Always there, so that what appears in it is heard.
function Moving({ of, consequences }: { of: InstanceShown; consequences: Consequences }) {
  const { moved, elsewhere } = consequences;
  const bound = of.bindings.length;
  return (
    <div role="status">
      {moved && (
        <Notice tone="warn" title={elsewhere ? "Another server" : "Another address on the same server"}>
          <ul>
            {elsewhere && <li>The credential is never carried to another server: replace it or remove it.</li>}
            {of.acknowledged.length > 0 && (
              <li>What was accepted for the old address does not hold for the new one.</li>
            )}
            {bound > 0 && (
              <li>{counted(bound, "binding is", "bindings are")} switched off until each has passed a test.</li>
            )}
            {bound === 0 && !elsewhere && of.acknowledged.length === 0 && (
              <li>Nothing is bound, so nothing is switched off.</li>
            )}
          </ul>
        </Notice>
      )}
    </div>
  );
}

function Credential(props: {
  of: InstanceShown;
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  elsewhere: boolean;
}) {
  const { of, draft, set, elsewhere } = props;
  const kept = of.credentialFingerprint ? (
    <>
      Fingerprint <code>{of.credentialFingerprint}</code>
    </>
  ) : (
    "There is none now."
  );
  const options = [
    { value: "keep", label: "Keep it", hint: elsewhere ? "Refused for another server." : kept },
    { value: "replace", label: "Replace it" },
    { value: "clear", label: "Remove it", hint: "The server is asked without one." },
  ];
  return (
    <>
      <ChoiceField
        label="Credential"
        value={draft.action}
        options={options}
        pointer="/credential/action"
        onValue={(action) => set({ action: action as Draft["action"], credential: "", publicOnly: false })}
      />
      {draft.action === "replace" && (
        <TextField
          label="New credential"
          secret
          value={draft.credential}
          onValue={(credential) => set({ credential })}
          pointer="/credential/value"
          hint={PRODUCTS[of.kind].key}
        />
      )}
    </>
  );
}
