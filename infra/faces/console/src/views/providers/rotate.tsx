import { useRef, useState } from "preact/hooks";
import type { ContractShown } from "../../api";
import { announce } from "../../announce";
import { Button, CheckField, Dialog, Form, FormFoot, Notice, SecretOnce, SelectField, Time, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { Intent } from "../../intent";
import { useAction } from "../../load";
import { readOne, rotate, type Read } from "./calls";

const WINDOWS = [
  { value: "24", label: "24 hours" },
  { value: "1", label: "1 hour" },
  { value: "72", label: "3 days" },
  { value: "168", label: "7 days, the most" },
  { value: "0", label: "None: drop the old secret at once" },
];

interface Props {
  of: Read & { provider: ContractShown };
  onChanged: (read: Read) => void;
  onClose: () => void;
}

export function Rotate(props: Props) {
  const [shown, setShown] = useState<{ secret: string | null } | null>(null);
  const title = `Rotate the secret of ${isolated(props.of.provider.name)}`;
  return (
    <Dialog title={title} onClose={props.onClose}>
      {shown === null && <RotateForm {...props} onSecret={(secret) => setShown({ secret })} />}
      {shown?.secret && (
        <SecretOnce
          value={shown.secret}
          label="New signing secret"
          onDone={props.onClose}
          hint="Give the provider this secret within the window; until its end both secrets sign every request."
        />
      )}
      {shown && !shown.secret && (
        <Notice tone="warn" title="The secret was shown already">
          <p>
            This rotation was carried out by an earlier request, whose answer had the secret. If it is lost, rotate
            again.
          </p>
        </Notice>
      )}
    </Dialog>
  );
}

function RotateForm(props: Props & { onSecret: (secret: string | null) => void }) {
  const { rotation } = props.of.provider;
  const [hours, setHours] = useState("24");
  const [replacePending, setReplacePending] = useState(false);
  const intent = useRef(new Intent());
  const rotating = useAction(async () => {
    const { made, etag } = await rotate(props.of, { windowHours: Number(hours), replacePending }, intent.current);
    const { secret, warnings: _, ...provider } = made;
    props.onChanged({ provider, etag });
    announce("The secret is rotated.");
    props.onSecret(secret);
  });
  const reread = useAction(async () => {
    props.onChanged(await readOne(props.of.provider.id));
    rotating.clear();
  });
  const pending = rotation !== null || rotating.problem?.code === "rotation_pending";
  return (
    <Form onSubmit={() => void rotating.run()} problem={rotating.problem} onReload={() => void reread.run()}>
      <p>
        The gateway makes a new secret and shows it once. Inside the window it signs with both, so no request is lost
        while the provider changes over.
      </p>
      {pending && (
        <Notice tone="warn" title="A window is still open">
          {rotation && (
            <p>
              The secret <code>{rotation.previousFingerprint}</code> signs until <Time at={rotation.until} both />.
            </p>
          )}
          <CheckField
            label="Rotate all the same: the oldest secret stops signing now"
            checked={replacePending}
            onValue={setReplacePending}
            pointer="/replacePending"
          />
        </Notice>
      )}
      <SelectField
        label="Both secrets sign for"
        value={hours}
        onValue={setHours}
        options={WINDOWS}
        pointer="/windowHours"
      />
      <FormFoot>
        <Cancel onClick={props.onClose} />
        <Button type="submit" kind={hours === "0" || replacePending ? "danger" : "primary"} busy={rotating.busy}>
          Rotate
        </Button>
      </FormFoot>
    </Form>
  );
}
