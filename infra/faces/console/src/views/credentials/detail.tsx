import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { CredentialShown } from "../../api";
import { announce } from "../../announce";
import { Button, Confirm, Facts, LinkButton, Loaded, Notice, Page, Section, Time } from "../../kit";
import { isolated } from "../../naming";
import { useLoad } from "../../load";
import { go, href } from "../../router";
import { counted } from "../../words";
import { ClassBadge, StateBadge } from "./badges";
import { readOne, revoke, type Read } from "./calls";
import { CLASSES, GRANTS, ROOT } from "./classes";
import { Edit } from "./edit";
import { Rotate } from "./rotate";
import { Switch } from "./switch";

type Doing = "edit" | "rotate" | "revoke" | "switch";

export function Detail({ id }: { id: string }) {
  const read = useLoad((signal) => readOne(id, signal), [id]);
  const [doing, setDoing] = useState<Doing | null>(null);
  const of = read.data?.credential;
  const close = () => setDoing(null);
  return (
    <Page
      title={of?.name ?? "Credential"}
      back={{ href: href("credentials"), label: "All credentials" }}
      lead={
        of && (
          <span class="row">
            <ClassBadge of={of.class} />
            <StateBadge of={of} />
            <code>{of.id}</code>
          </span>
        )
      }
      actions={of && <Actions of={of} onDoing={setDoing} />}
    >
      <Loaded from={read}>{({ credential }) => <Content of={credential} />}</Loaded>
      {read.data && doing === "edit" && <Edit of={read.data} onRead={read.put} onClose={close} />}
      {read.data && doing === "rotate" && <Rotate of={read.data} onRead={read.put} onClose={close} />}
      {read.data && doing === "switch" && <Switch of={read.data} onRead={read.put} onClose={close} />}
      {read.data && doing === "revoke" && <Revoke of={read.data} onRead={read.put} onClose={close} />}
    </Page>
  );
}

function Actions({ of, onDoing }: { of: CredentialShown; onDoing: (doing: Doing) => void }) {
  const toggle = (
    <Button onClick={() => onDoing("switch")}>{of.status === "active" ? "Switch off" : "Switch on"}</Button>
  );
  if (of.id === ROOT) return toggle;
  return (
    <>
      <Button onClick={() => onDoing("edit")}>Edit</Button>
      <Button onClick={() => onDoing("rotate")}>Rotate</Button>
      {toggle}
      <Button kind="danger" onClick={() => onDoing("revoke")}>
        Revoke
      </Button>
    </>
  );
}

function Content({ of }: { of: CredentialShown }) {
  return (
    <>
      {of.id === ROOT && <RootExplained of={of} />}
      {of.grants.includes("external_knowledge:agent") && (
        <Notice tone="warn" title="It answers Dify applications">
          <p>
            These are given everything that this credential reaches, agent_only sources among it, and may answer
            customers with that.
          </p>
        </Notice>
      )}
      {of.class === "ast" && of.grants.length === 0 && (
        <Notice tone="warn">
          <p>It has no grant, and reaches nothing.</p>
        </Notice>
      )}
      <Section title="What it may do">
        <p class="muted">{CLASSES[of.class].hint}</p>
        <Facts of={powers(of)} />
      </Section>
      <Section
        title="What it is"
        actions={
          <LinkButton href={`${href("audit")}?q=${encodeURIComponent(`credential/${of.id}`)}`}>Its changes</LinkButton>
        }
      >
        <Facts
          of={[
            ["Fingerprint of its secret", <code>{of.secretFingerprint ?? "kept by the stack"}</code>],
            ["Ends", of.expiresAt ? <Time at={of.expiresAt} both /> : "never"],
            ["Issued", <Time at={of.createdAt} both />],
            ["Changed", <Time at={of.updatedAt} both />],
            ["Version", of.generation],
          ]}
        />
      </Section>
    </>
  );
}

function powers(of: CredentialShown): [string, ComponentChildren][] {
  return [
    [
      "Grants",
      of.grants.length > 0 ? (
        <ul class="plain">
          {of.grants.map((one) => (
            <li key={one}>
              <code>{one}</code> {GRANTS[one]}
            </li>
          ))}
        </ul>
      ) : (
        "none"
      ),
    ],
    ...(of.origins
      ? [
          [
            "Origins",
            <ul class="plain">
              {of.origins.map((one) => (
                <li key={one}>
                  <code>{one}</code>
                </li>
              ))}
            </ul>,
          ] as [string, ComponentChildren],
        ]
      : []),
    ...(of.class === "agt"
      ? [
          ["Providers", of.allowedProviders ? <Allowed of={of.allowedProviders} /> : "all"] as [
            string,
            ComponentChildren,
          ],
        ]
      : []),
    ["Requests a minute", of.ratePerMinute],
    ...(of.addressRatePerMinute === null
      ? []
      : [["From one address", of.addressRatePerMinute] as [string, ComponentChildren]]),
  ];
}

function Allowed({ of }: { of: string[] }) {
  if (of.length === 0) return <>none</>;
  return (
    <ul class="plain">
      {of.map((id) => (
        <li key={id}>
          <a href={href("providers", id)}>
            <code>{id}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}

function RootExplained({ of }: { of: CredentialShown }) {
  return (
    <Notice tone={of.status === "active" ? "warn" : "info"} title="Root is the first admin">
      <p>
        Its secret lies in the stack, where whoever may read the stack's secrets finds it. Switch root off once another
        admin credential exists that is active and never ends; until then the gateway refuses. It cannot be edited,
        rotated or revoked.
      </p>
    </Notice>
  );
}

function Revoke({ of, onRead, onClose }: { of: Read; onRead: (read: Read) => void; onClose: () => void }) {
  const { credential } = of;
  const confirm = async () => {
    try {
      await revoke(of);
    } catch (thrown) {
      // What is to be revoked is this credential, whatever was changed about it: the next try goes with the new tag.
      await readOne(credential.id).then(onRead, () => undefined);
      throw thrown;
    }
    announce(`${isolated(credential.name)} is revoked.`);
    go(href("credentials"));
  };
  return (
    <Confirm
      title={`Revoke ${isolated(credential.name)}`}
      typed={credential.name}
      action="Revoke"
      danger
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        Its token stops working at once and for good
        {credential.origins ? `, on ${counted(credential.origins.length, "origin")}` : ""}. To stop it for a while,
        switch it off instead.
      </p>
    </Confirm>
  );
}
