import { useState } from "preact/hooks";
import type { CredentialClass, ProviderShown } from "../../api";
import { AreaField, CheckField, Exposure, Notice, ProblemBox, Skeleton, TextField } from "../../kit";
import { useLoad } from "../../load";
import { counted } from "../../words";
import { readProviders } from "./calls";
import { GRANTABLE } from "./classes";
import type { Draft } from "./draft";
import { linesOf, wrongWithOrigin } from "./origins";

interface Props {
  kind: CredentialClass;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  /** Whether what is wrong with origins is said before they are sent. */
  strict: boolean;
}

/** The fields that a credential of this class has. */
export function CredentialFields(props: Props) {
  const { kind, draft, onDraft } = props;
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onValue={(name) => onDraft({ ...draft, name })}
        pointer="/name"
        maxLength={120}
        hint="Who uses it, and for what."
      />
      {kind === "pub" && <Origins {...props} />}
      {GRANTABLE[kind] && <Granted {...props} />}
      {kind === "agt" && <Allowed {...props} />}
      <div class="two">
        <TextField
          label="Requests a minute"
          optional
          type="number"
          value={draft.rate}
          onValue={(rate) => onDraft({ ...draft, rate })}
          pointer="/ratePerMinute"
        />
        {kind === "pub" && (
          <TextField
            label="A minute, from one address"
            optional
            type="number"
            value={draft.addressRate}
            onValue={(addressRate) => onDraft({ ...draft, addressRate })}
            pointer="/addressRatePerMinute"
          />
        )}
        <TextField
          label="Ends"
          optional
          type="datetime-local"
          value={draft.ends}
          onValue={(ends) => onDraft({ ...draft, ends })}
          pointer="/expiresAt"
          hint="In this browser's time. Empty: never."
        />
      </div>
    </>
  );
}

/** What is wrong with the origins as they stand, in a sentence; null where nothing is. */
export function wrongOrigins(kind: CredentialClass, draft: Draft): string | null {
  if (kind !== "pub") return null;
  const lines = linesOf(draft.origins);
  if (lines.length === 0) return "Name at least one origin: without any it could be used from nowhere.";
  return (
    lines
      .map(wrongWithOrigin)
      .filter((wrong) => wrong !== null)
      .join("\n") || null
  );
}

function Origins({ kind, draft, onDraft, strict }: Props) {
  return (
    <AreaField
      label="Origins"
      value={draft.origins}
      onValue={(origins) => onDraft({ ...draft, origins })}
      pointer="/origins"
      rows={3}
      mono
      placeholder="https://help.example.com"
      error={strict ? wrongOrigins(kind, draft) : null}
      hint="One a line, exactly as a browser's address bar has them: https, host, and port where there is one. www.example.com and example.com are two."
    />
  );
}

function Granted({ kind, draft, onDraft }: Props) {
  const set = (granted: boolean) => onDraft({ ...draft, granted });
  if (kind === "ast") {
    return (
      <CheckField
        label={
          <>
            It may read public knowledge: <code>knowledge:read_public</code>
          </>
        }
        checked={draft.granted}
        onValue={set}
        pointer="/grants"
        hint="Without it, it reaches nothing. Internal knowledge can be granted to no assistant."
      />
    );
  }
  return (
    <>
      <CheckField
        label={
          <>
            It may answer Dify applications: <code>external_knowledge:agent</code>
          </>
        }
        checked={draft.granted}
        onValue={set}
        pointer="/grants"
      />
      {draft.granted && (
        <Notice tone="warn" title="Internal passages may leave with it">
          <p>
            A Dify application with this key is given everything that the key reaches, agent_only sources among it, and
            may answer customers with that. The grant is audited. For what customers are told, take an assistant's
            credential instead.
          </p>
        </Notice>
      )}
    </>
  );
}

function Allowed({ draft, onDraft }: Props) {
  const set = (allowed: string[] | null) => onDraft({ ...draft, allowed });
  return (
    <>
      <CheckField
        label="It reaches only the providers that I choose"
        checked={draft.allowed !== null}
        onValue={(only) => set(only ? [] : null)}
        pointer="/allowedProviders"
        hint={
          draft.allowed === null
            ? "It reaches every provider, those that are registered later as well."
            : `${counted(draft.allowed.length, "provider")} chosen.`
        }
      />
      {draft.allowed !== null && <Choice chosen={draft.allowed} onChosen={set} />}
    </>
  );
}

function Choice({ chosen, onChosen }: { chosen: string[]; onChosen: (ids: string[]) => void }) {
  const providers = useLoad(readProviders, []);
  const [gone] = useState(chosen);
  if (providers.problem) return <ProblemBox of={providers.problem} onRetry={providers.reload} />;
  if (!providers.data) return <Skeleton lines={3} />;
  const known: Pick<ProviderShown, "id" | "name" | "exposureProfile">[] = providers.data;
  const set = (id: string, on: boolean) => onChosen(on ? [...chosen, id] : chosen.filter((one) => one !== id));
  return (
    <fieldset class="group">
      <legend>Providers</legend>
      <div class="choice-list">
        {known.map((one) => (
          <CheckField
            key={one.id}
            checked={chosen.includes(one.id)}
            onValue={(on) => set(one.id, on)}
            label={
              <span class="break">
                {one.name} <Exposure of={one.exposureProfile} />
              </span>
            }
          />
        ))}
        {gone
          .filter((id) => !known.some((one) => one.id === id))
          .map((id) => (
            <CheckField
              key={id}
              checked={chosen.includes(id)}
              onValue={(on) => set(id, on)}
              label={
                <>
                  <code>{id}</code> <span class="muted">no longer there</span>
                </>
              }
            />
          ))}
      </div>
    </fieldset>
  );
}
