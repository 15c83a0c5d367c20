// What the API calls a fact that the console shows under a name of its own.
const SHOWN_AS: Record<string, string> = {
  secretFingerprint: "Secret's fingerprint",
  credentialFingerprint: "Credential's fingerprint",
};

/** The gateway's own sentences, whose names stand between backticks; a fact of this console goes by its name here. */
export function Worded({ of }: { of: string | null | undefined }) {
  return <>{(of ?? "").split("`").map((part, at) => (at % 2 === 1 ? <Name key={at} of={part} /> : part))}</>;
}

function Name({ of }: { of: string }) {
  const shown = Object.hasOwn(SHOWN_AS, of) ? SHOWN_AS[of] : undefined;
  return shown === undefined ? <code>{of}</code> : <q>{shown}</q>;
}
