import type { CredentialClass } from "../../api";
import { Button, FormFoot, Notice, SecretOnce } from "../../kit";
import type { Issued } from "./calls";

const HINTS: Record<CredentialClass, string> = {
  pub: "Put this key into the widget on your pages. It is public by nature, and works from the listed origins alone.",
  ast: "Put this token where your assistant keeps its secrets.",
  agt: "Put this token where your tool keeps its secrets, and never into a page that customers load.",
  adm: "Keep this token in a password manager: it administers everything.",
};

export function TokenOnce({ of, onDone }: { of: Issued; onDone: () => void }) {
  if (of.token) return <SecretOnce value={of.token} label="Token" hint={HINTS[of.credential.class]} onDone={onDone} />;
  return (
    <>
      <Notice tone="warn" title="The token was shown already">
        <p>
          This was carried out by an earlier request, whose answer had the token. If it is lost, rotate the credential.
        </p>
      </Notice>
      <FormFoot>
        <Button kind="primary" onClick={onDone}>
          Close
        </Button>
      </FormFoot>
    </>
  );
}
