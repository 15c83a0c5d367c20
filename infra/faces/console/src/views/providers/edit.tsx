import { useState } from "preact/hooks";
import type { Acknowledge, ProviderShown } from "../../api";
import { announce } from "../../announce";
import {
  askedBy,
  Button,
  changesOf,
  Dialog,
  draftOf,
  DraftFields,
  Form,
  FormFoot,
  Notice,
  RiskQuestion,
  TextField,
  Cancel,
} from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { href } from "../../router";
import { change, readOne, type Read } from "./calls";
import { blankCredential, credentialBody, CredentialFields } from "./credential";
import { isBound, specsOf } from "./kinds";
import { TestFailure } from "./test_failure";

interface Props {
  of: Read;
  onChanged: (read: Read) => void;
  onClose: () => void;
}

/** Sends only what was changed, bound to the version that was read. */
export function Edit(props: Props) {
  const { provider } = props.of;
  const specs = specsOf(provider.kind).filter(
    (spec) => provider.exposureProfile === "agent_only" || spec.at !== "sendConversationId",
  );
  const [draft, setDraft] = useState(() => draftOf(specs, provider));
  const [credential, setCredential] = useState(blankCredential);
  const [testQuery, setTestQuery] = useState("");
  const [acknowledge, setAcknowledge] = useState<Acknowledge | null>(null);
  const external = provider.kind === "dify_external";
  const saving = useAction(async () => {
    const changes = { ...changesOf(specs, draft, provider), ...(external && credentialBody(credential)) };
    const more = { ...(external && testQuery !== "" && { testQuery }), ...(acknowledge && { acknowledge }) };
    if (Object.keys({ ...changes, ...more }).length > 0)
      props.onChanged(await change(props.of, { ...changes, ...more }));
    announce(Object.keys(changes).length > 0 ? "Saved." : "Nothing was changed.");
    props.onClose();
  });
  const reread = useAction(async () => {
    const read = await readOne(provider.id);
    props.onChanged(read);
    setDraft(draftOf(specs, read.provider));
    saving.clear();
  });
  const asked = askedBy(saving.problem);
  return (
    <Dialog title={`Change ${isolated(provider.name)}`} onClose={props.onClose} wide>
      <Form onSubmit={() => void saving.run()} problem={saving.problem} onReload={() => void reread.run()}>
        <TestFailure of={saving.problem} />
        {asked && <RiskQuestion asked={asked} accepted={acknowledge} onAccepted={setAcknowledge} />}
        <Elsewhere of={provider} />
        <DraftFields specs={specs} draft={draft} onDraft={setDraft} />
        {external && (
          <>
            <CredentialFields value={credential} onValue={setCredential} exposure={provider.exposureProfile} />
            <TextField
              label="Test query"
              value={testQuery}
              onValue={setTestQuery}
              pointer="/testQuery"
              optional
              hint="Needed where the server is asked in another way from now on. Asked for real, once, before anything is saved."
            />
          </>
        )}
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

function Elsewhere({ of }: { of: ProviderShown }) {
  if (!isBound(of)) return null;
  return (
    <Notice>
      <p>
        Address and credential are those of <a href={href("instances", of.instanceId)}>its instance</a>; how it is
        searched is changed in <a href={href("instances", of.instanceId, "edit", of.id)}>its binding</a>.
      </p>
    </Notice>
  );
}
