import { useRef, useState } from "preact/hooks";
import type { Acknowledge, ExposureProfile, InstanceCreate } from "../../api";
import { announce } from "../../announce";
import { Intent } from "../../intent";
import {
  askedBy,
  Button,
  ChoiceField,
  Dialog,
  Form,
  FormFoot,
  RiskQuestion,
  SelectField,
  TextField,
  Cancel,
} from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { go, href } from "../../router";
import { create } from "./calls";
import { Authority, EXPOSURES, PublicOnly } from "./fields";
import { PRODUCTS, type Product } from "./products";

interface Wanted {
  name: string;
  kind: Product;
  exposure: ExposureProfile;
  baseUrl: string;
  credential: string;
  publicOnly: boolean;
  authority: string;
}

const BLANK: Wanted = {
  name: "",
  kind: "dify",
  exposure: "agent_only",
  baseUrl: "",
  credential: "",
  publicOnly: false,
  authority: "",
};

export function Create({ onClose }: { onClose: () => void }) {
  const [wanted, setWanted] = useState(BLANK);
  const [acknowledge, setAcknowledge] = useState<Acknowledge | null>(null);
  const intent = useRef(new Intent());
  const set = (part: Partial<Wanted>) => {
    setWanted({ ...wanted, ...part });
    if (part.baseUrl !== undefined) setAcknowledge(null);
  };
  const creating = useAction(async () => {
    const made = await create(bodyOf(wanted, acknowledge), intent.current);
    announce(`${isolated(made.name)} is registered. Nothing was sent to it yet.`);
    onClose();
    go(href("instances", made.id));
  });
  const asked = askedBy(creating.problem);
  return (
    <Dialog title="Register a server" onClose={onClose} wide>
      <Form onSubmit={() => void creating.run()} problem={creating.problem}>
        {asked && <RiskQuestion asked={asked} accepted={acknowledge} onAccepted={setAcknowledge} />}
        <Fields wanted={wanted} set={set} />
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind="primary" busy={creating.busy}>
            Register
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}

function Fields({ wanted, set }: { wanted: Wanted; set: (part: Partial<Wanted>) => void }) {
  const product = PRODUCTS[wanted.kind];
  return (
    <>
      <div class="two">
        <SelectField
          label="Product"
          value={wanted.kind}
          onValue={(kind) => set({ kind: kind as Product })}
          pointer="/kind"
          hint={product.versions}
          options={Object.entries(PRODUCTS).map(([value, { name }]) => ({ value, label: name }))}
        />
        <TextField
          label="Name"
          value={wanted.name}
          onValue={(name) => set({ name })}
          pointer="/name"
          hint="One line for people."
        />
      </div>
      <ChoiceField
        label="Exposure, fixed for ever"
        value={wanted.exposure}
        pointer="/exposureProfile"
        options={EXPOSURES}
        onValue={(exposure) => set({ exposure: exposure as ExposureProfile, publicOnly: false })}
      />
      <TextField
        label="Base URL"
        mono
        value={wanted.baseUrl}
        onValue={(baseUrl) => set({ baseUrl })}
        pointer="/baseUrl"
        hint={`${product.address} Use https: plain http and private addresses need your word.`}
      />
      <TextField
        label="Credential"
        secret
        optional
        value={wanted.credential}
        onValue={(credential) => set({ credential })}
        pointer="/credential"
        hint={`${product.key} Sealed at once and shown nowhere; later only its fingerprint is.`}
      />
      {wanted.exposure === "customer_safe" && (
        <PublicOnly checked={wanted.publicOnly} onValue={(publicOnly) => set({ publicOnly })} />
      )}
      <Authority value={wanted.authority} onValue={(authority) => set({ authority })} />
    </>
  );
}

function bodyOf(wanted: Wanted, acknowledge: Acknowledge | null): InstanceCreate {
  const { name, kind, exposure, credential, publicOnly, authority } = wanted;
  return {
    name,
    kind,
    exposureProfile: exposure,
    baseUrl: wanted.baseUrl.trim(),
    credential: credential.trim() === "" ? null : { action: "replace", value: credential.trim() },
    acknowledge,
    credentialReachesPublicContentOnly: exposure === "customer_safe" && publicOnly,
    privateAuthority: authority.trim() === "" ? null : authority,
  };
}
