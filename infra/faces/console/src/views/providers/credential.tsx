import { CheckField, SelectField, TextField } from "../../kit";

export interface Credential {
  action: "keep" | "replace" | "clear";
  value: string;
  /** States that it reaches public content alone. */
  publicOnly: boolean;
}

export const blankCredential: Credential = { action: "keep", value: "", publicOnly: false };

/** The members of a body that say what becomes of the credential; nothing while it is kept. */
export function credentialBody(credential: Credential): object {
  const stated = credential.publicOnly ? { credentialReachesPublicContentOnly: true } : {};
  if (credential.action === "clear") return { ...stated, credential: { action: "clear" } };
  if (credential.action === "replace" && credential.value !== "") {
    return { ...stated, credential: { action: "replace", value: credential.value } };
  }
  return stated;
}

const ACTIONS = [
  { value: "keep", label: "Keep it as it is" },
  { value: "replace", label: "Replace it" },
  { value: "clear", label: "Remove it" },
];

/** `fresh`: of a new thing, where there is nothing to keep. */
export function CredentialFields(props: {
  value: Credential;
  onValue: (value: Credential) => void;
  exposure: "customer_safe" | "agent_only";
  fresh?: boolean;
}) {
  const { value, onValue, fresh = false } = props;
  return (
    <fieldset class="group">
      <legend>Credential</legend>
      {!fresh && (
        <SelectField
          label="The credential that is kept"
          value={value.action}
          options={ACTIONS}
          pointer="/credential/action"
          onValue={(action) => onValue({ ...value, action: action as Credential["action"], value: "" })}
        />
      )}
      {value.action === "replace" && (
        <TextField
          label="API key"
          secret
          optional={fresh}
          value={value.value}
          pointer="/credential"
          onValue={(text) => onValue({ ...value, value: text })}
          hint="Sealed at once and shown nowhere; later only its fingerprint is."
        />
      )}
      {props.exposure === "customer_safe" && (
        <CheckField
          label="This credential reaches public content alone"
          checked={value.publicOnly}
          pointer="/credentialReachesPublicContentOnly"
          onValue={(publicOnly) => onValue({ ...value, publicOnly })}
          hint="Needed for a customer_safe source with every new credential and base URL. Audited."
        />
      )}
    </fieldset>
  );
}
