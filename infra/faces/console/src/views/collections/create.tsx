import { useRef, useState } from "preact/hooks";
import type { ExposureProfile } from "../../api";
import { announce } from "../../announce";
import { Intent } from "../../intent";
import { Button, ChoiceField, Dialog, Form, FormFoot, TextField, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { go, href } from "../../router";
import { create, readOne, rename, type Read } from "./calls";

const EXPOSURES = [
  { value: "agent_only", label: "agent_only", hint: "Agents alone see its cards." },
  {
    value: "customer_safe",
    label: "customer_safe",
    hint: "Assistants see its cards too, and may show them to customers.",
  },
];

export function Create({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [exposure, setExposure] = useState<ExposureProfile>("agent_only");
  const intent = useRef(new Intent());
  const creating = useAction(async () => {
    const made = await create({ name, exposureProfile: exposure }, intent.current);
    announce(`${isolated(made.name)} is made.`);
    onClose();
    go(href("cards", made.id));
  });
  return (
    <Dialog title="New collection" onClose={onClose}>
      <Form onSubmit={() => void creating.run()} problem={creating.problem}>
        <TextField label="Name" value={name} onValue={setName} pointer="/name" hint="One line for people." />
        <ChoiceField
          label="Exposure, fixed for ever"
          value={exposure}
          onValue={(value) => setExposure(value as ExposureProfile)}
          pointer="/exposureProfile"
          options={EXPOSURES}
        />
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind="primary" busy={creating.busy}>
            Make it
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}

export function Rename(props: { of: Read; onRead: (read: Read) => void; onClose: () => void }) {
  const [name, setName] = useState(props.of.collection.name);
  const saving = useAction(async () => {
    props.onRead(await rename(props.of, name));
    announce("Renamed.");
    props.onClose();
  });
  const reread = useAction(async () => {
    props.onRead(await readOne(props.of.collection.id));
    saving.clear();
  });
  return (
    <Dialog title="Rename the collection" onClose={props.onClose}>
      <Form onSubmit={() => void saving.run()} problem={saving.problem} onReload={() => void reread.run()}>
        <TextField label="Name" value={name} onValue={setName} pointer="/name" />
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
