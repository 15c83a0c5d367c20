import type { ComponentChildren } from "preact";
import type { ContractShown, ProviderShown } from "../../api";
import { announce } from "../../announce";
import { Badge, Button, Facts, Notice, ProblemBox, Section, Time } from "../../kit";
import { useAction } from "../../load";
import { href } from "../../router";
import { spelled } from "../../words";
import { rereadCapabilities, type Read } from "./calls";
import { CAPABILITIES, isBound } from "./kinds";

/** What an operator has to know before anything else. */
export function States({ of }: { of: ProviderShown }) {
  return (
    <>
      {of.needsTest && (
        <Notice tone="warn" title="It has to pass a test">
          <p>It is off until a test that turns it on has passed.</p>
        </Notice>
      )}
      {of.status === "auto_disabled" && (
        <Notice tone="bad" title="It was taken out of use">
          <p>
            {of.statusReason?.code && <code>{of.statusReason.code}</code>} <Time at={of.statusReason?.at} both />. Mend
            it, then put it back, or have a test turn it on.
          </p>
        </Notice>
      )}
      {"configInvalid" in of && of.configInvalid && (
        <Notice tone="warn" title="Its config is of another version of the gateway">
          <p>It is not asked until its config is changed or its defaults are restored, with a test.</p>
        </Notice>
      )}
      {"rotation" in of && of.rotation && (
        <Notice title="Both secrets sign">
          <p>
            The secret <code>{of.rotation.previousFingerprint}</code> signs beside the new one until{" "}
            <Time at={of.rotation.until} both />.
          </p>
        </Notice>
      )}
    </>
  );
}

export function Registration({ of, onRead }: { of: ProviderShown; onRead: (read: Read) => void }) {
  return (
    <>
      <Section title="Registration">
        <Facts of={[...factsOf(of), ...lastFacts(of)]} />
      </Section>
      {"config" in of && (
        <Section title="Config">
          <Facts of={configFacts(of.config)} />
        </Section>
      )}
      {of.kind === "contract" && <Capabilities of={of} onRead={onRead} />}
    </>
  );
}

type Fact = [string, ComponentChildren];

function factsOf(of: ProviderShown): Fact[] {
  const address: Fact = ["Address", of.baseUrl];
  if (of.kind === "contract") {
    return [
      address,
      ["Secret's fingerprint", <code>{of.secretFingerprint ?? "none"}</code>],
      ["Contract version", of.contractVersion],
      ["Private network", of.allowPrivateNetwork ? "allowed" : "no"],
      ["Conversation ids", of.sendConversationId ? "sent" : "not sent"],
    ];
  }
  if (of.kind === "dify_external") {
    return [
      address,
      ["Credential's fingerprint", <code>{of.credentialFingerprint ?? "none"}</code>],
      ["Reaches public content alone", of.credentialReachesPublicContentOnly ? "stated" : "not stated"],
      ["Own certificates", of.privateAuthority ? "believed" : "none"],
      ...limitFacts(of),
    ];
  }
  if (isBound(of)) {
    return [
      address,
      ["Instance", <a href={href("instances", of.instanceId)}>{of.instanceId}</a>],
      ["Knowledge base", of.remoteName],
      ["Its id there", <code>{of.remoteId}</code>],
      ...limitFacts(of),
    ];
  }
  return [address];
}

function limitFacts(of: { resultLimit: number; requestTimeoutMs: number; maxSnippetCharacters: number }): Fact[] {
  return [
    ["Passages a search", of.resultLimit],
    ["Time limit", `${of.requestTimeoutMs} ms`],
    ["Characters a passage", of.maxSnippetCharacters],
  ];
}

function lastFacts(of: ProviderShown): Fact[] {
  return [
    ["Priority", of.priority],
    ["Module", of.module ?? "–"],
    ["Changed", <Time at={of.updatedAt} both />],
    ["Registered", <Time at={of.createdAt} both />],
    ["Version", of.generation],
  ];
}

function configFacts(config: object): Fact[] {
  return Object.entries(config).map(([name, value]) => [spelled(name), <ConfigValue of={value} />]);
}

function ConfigValue({ of }: { of: unknown }) {
  if (Array.isArray(of))
    return (
      <ul class="plain">
        {of.map((one) => (
          <li key={String(one)}>
            <code>{String(one)}</code>
          </li>
        ))}
      </ul>
    );
  if (of !== null && typeof of === "object") return <Facts of={configFacts(of)} />;
  return <code>{of === null ? "–" : String(of)}</code>;
}

function Capabilities({ of, onRead }: { of: ContractShown; onRead: (read: Read) => void }) {
  const reading = useAction(async () => {
    const { report, read } = await rereadCapabilities(of.id);
    onRead(read);
    const failed = report.errorCode !== null;
    announce(
      failed
        ? `Not read: ${report.errorCode}. ${(report.explanation ?? "").replaceAll("`", "")}`
        : changes(report.changed),
      failed ? "bad" : "ok",
    );
  });
  const can: Record<string, boolean | undefined> = { ...of.capabilities };
  return (
    <Section
      title="What it can do"
      actions={
        <Button small busy={reading.busy} onClick={() => void reading.run()}>
          Read from the provider
        </Button>
      }
    >
      {reading.problem && <ProblemBox of={reading.problem} />}
      <ul class="capabilities">
        {CAPABILITIES.map(([name, label]) => (
          <li key={name}>
            <Badge tone={can[name] ? "ok" : "neutral"}>{can[name] ? "yes" : "no"}</Badge> {label}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function changes(changed: string[]): string {
  return changed.length === 0 ? "It can do what is registered." : `Now declared otherwise: ${changed.join(", ")}.`;
}
