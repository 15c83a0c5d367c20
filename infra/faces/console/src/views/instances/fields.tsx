// Fields that a new instance and a changed one have in common.
import type { ExposureProfile } from "../../api";
import { AreaField, CheckField, Notice, useViolation } from "../../kit";

/** The statement that a customer_safe server needs, with what it means. */
export function PublicOnly(props: { checked: boolean; onValue: (checked: boolean) => void; again?: boolean }) {
  return (
    <Notice tone="warn" title="What a customer may read">
      <p>
        These products mark nothing as public or internal, so the credential decides: everything that it reaches may
        reach customers. A workspace in which one data set is internal is internal. The gateway cannot check it.
      </p>
      <CheckField
        label="This credential reaches public content and nothing else"
        checked={props.checked}
        onValue={props.onValue}
        pointer="/credentialReachesPublicContentOnly"
        hint={
          props.again
            ? "Stated anew for this credential at this address. It is audited."
            : "It is audited, and holds for this credential at this base URL alone."
        }
      />
    </Notice>
  );
}

export function Authority(props: { value: string; onValue: (value: string) => void; open?: boolean }) {
  const refused = useViolation("/privateAuthority") !== null;
  return (
    <details open={refused || (props.open ?? false)}>
      <summary>Certificates of your own</summary>
      <AreaField
        label="Certificates to believe (PEM)"
        optional
        mono
        value={props.value}
        onValue={props.onValue}
        pointer="/privateAuthority"
        placeholder="-----BEGIN CERTIFICATE-----"
        hint="Believed for this server alone, beside the public authorities. Certificates are always verified."
      />
    </details>
  );
}

export const EXPOSURES: { value: ExposureProfile; label: string; hint: string }[] = [
  { value: "agent_only", label: "agent_only", hint: "Passages reach agents alone." },
  { value: "customer_safe", label: "customer_safe", hint: "Passages may reach customers: assistants and widgets too." },
];
