import { useRef, useState } from "preact/hooks";
import type { Acknowledge, ProviderMade } from "../../api";
import { announce } from "../../announce";
import {
  askedBy,
  bodyOf,
  Button,
  ChoiceField,
  Dialog,
  draftOf,
  DraftFields,
  Form,
  FormFoot,
  Notice,
  RiskQuestion,
  SecretOnce,
  SelectField,
  TextField,
  type Draft,
  Cancel,
} from "../../kit";
import { isolated } from "../../naming";
import { Intent } from "../../intent";
import { useAction } from "../../load";
import { go, href } from "../../router";
import { create } from "./calls";
import { blankCredential, credentialBody, CredentialFields, type Credential } from "./credential";
import { LIVE, MADE, specsOf, type Made } from "./kinds";
import { TestFailure } from "./test_failure";

type Exposed = "customer_safe" | "agent_only";

const EXPOSURES = [
  { value: "agent_only", label: "agent_only", hint: "Its passages reach agents alone." },
  {
    value: "customer_safe",
    label: "customer_safe",
    hint: "Its passages may reach customers. You promise that the other side reaches public content alone.",
  },
];

export function Create({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<ProviderMade | null>(null);
  const secret = made && "secret" in made ? made.secret : null;
  const done = (one: ProviderMade) => {
    onClose();
    go(href("providers", one.id));
  };
  const onMade = (one: ProviderMade) => {
    announce(`${isolated(one.name)} is registered.`);
    if ("secret" in one && one.secret) setMade(one);
    else done(one);
  };
  return (
    <Dialog title={made ? `Secret of ${isolated(made.name)}` : "Register a provider"} onClose={onClose} wide>
      {made && secret ? (
        <SecretOnce
          value={secret}
          label="Signing secret"
          hint="Give the provider this secret, then test it."
          onDone={() => done(made)}
        />
      ) : (
        <CreateForm onMade={onMade} onClose={onClose} />
      )}
    </Dialog>
  );
}

function CreateForm(props: { onMade: (made: ProviderMade) => void; onClose: () => void }) {
  const [kind, setKind] = useState<Made>("contract");
  const [exposure, setExposure] = useState<Exposed>("agent_only");
  const [draft, setDraft] = useState<Draft>(() => draftOf(specsOf("contract")));
  const [testQuery, setTestQuery] = useState("");
  const [credential, setCredential] = useState<Credential>({ ...blankCredential, action: "replace" });
  const [acknowledge, setAcknowledge] = useState<Acknowledge | null>(null);
  const intent = useRef(new Intent());
  const live = LIVE.has(kind);
  const external = kind === "dify_external";
  const choose = (next: Made) => {
    setKind(next);
    setDraft({ ...draftOf(specsOf(next)), name: draft.name ?? "" });
    creating.clear();
  };
  const creating = useAction(async () => {
    const body = { ...bodyOf(specsOf(kind), draft), kind, exposureProfile: live ? "agent_only" : exposure };
    const more = external ? { testQuery, ...credentialBody(credential), ...(acknowledge && { acknowledge }) } : {};
    props.onMade(await create({ ...body, ...more }, intent.current));
  });
  const asked = askedBy(creating.problem);
  return (
    <Form onSubmit={() => void creating.run()} problem={creating.problem}>
      <TestFailure of={creating.problem} />
      {asked && <RiskQuestion asked={asked} accepted={acknowledge} onAccepted={setAcknowledge} />}
      <SelectField
        label="Kind"
        value={kind}
        onValue={(value) => choose(value as Made)}
        hint={MADE.find((one) => one.kind === kind)?.hint}
        options={MADE.map((one) => ({ value: one.kind, label: one.label }))}
      />
      <p class="field-hint">
        A knowledge base of Dify, FastGPT or RAGFlow is bound at <a href={href("instances")}>its instance</a>.
      </p>
      {live ? (
        <Notice>
          <p>
            A live service is <strong>agent_only</strong>: its keys are paid for. They lie in its pool.
          </p>
        </Notice>
      ) : (
        <ChoiceField
          label="Exposure, fixed for ever"
          pointer="/exposureProfile"
          value={exposure}
          onValue={(value) => setExposure(value as Exposed)}
          options={EXPOSURES}
        />
      )}
      <DraftFields specs={specsOf(kind)} draft={draft} onDraft={setDraft} />
      {external && (
        <>
          <CredentialFields value={credential} onValue={setCredential} exposure={exposure} fresh />
          <TextField
            label="Test query"
            value={testQuery}
            onValue={setTestQuery}
            pointer="/testQuery"
            hint="Asked for real, once, before anything is saved; the server may bill and log it."
          />
        </>
      )}
      <FormFoot>
        <Cancel onClick={props.onClose} />
        <Button type="submit" kind="primary" busy={creating.busy}>
          {external ? "Test and register" : "Register"}
        </Button>
      </FormFoot>
    </Form>
  );
}
