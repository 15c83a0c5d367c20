import { useState } from "preact/hooks";
import type { ProviderShown } from "../../api";
import { announce } from "../../announce";
import { Button, Confirm, Exposure, LinkButton, Loaded, Page, ProblemBox } from "../../kit";
import { isolated } from "../../naming";
import { useAction, useLoad } from "../../load";
import { go, href } from "../../router";
import { KINDS } from "../../words";
import { Allowed, StatusBadge } from "./badges";
import { change, drop, readOne, type Read } from "./calls";
import { Edit } from "./edit";
import { Registration, States } from "./registration";
import { Rotate } from "./rotate";
import { TestPanel } from "./test_panel";

type Open = "edit" | "rotate" | "delete" | null;

export function Detail({ id }: { id: string }) {
  const read = useLoad((signal) => readOne(id, signal), [id]);
  const provider = read.data?.provider;
  return (
    <Page
      title={provider?.name ?? "Provider"}
      back={{ href: href("providers"), label: "All providers" }}
      lead={provider && <Lead of={provider} />}
      actions={read.data && <Actions of={read.data} onRead={read.put} onReload={read.reload} />}
    >
      <Loaded from={read}>
        {(data) => (
          <>
            <States of={data.provider} />
            <TestPanel of={data.provider} onTested={read.put} />
            <Registration of={data.provider} onRead={read.put} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Lead({ of }: { of: ProviderShown }) {
  return (
    <span class="row">
      <StatusBadge of={of} /> <Exposure of={of.exposureProfile} /> <Allowed of={of} /> {KINDS[of.kind]}{" "}
      <code>{of.id}</code>
    </span>
  );
}

function Actions(props: { of: Read; onRead: (read: Read) => void; onReload: () => void }) {
  const { provider } = props.of;
  const [open, setOpen] = useState<Open>(null);
  const on = provider.status !== "disabled";
  const close = () => setOpen(null);
  const switching = useAction(async (status: "active" | "disabled") => {
    props.onRead(await change(props.of, { status }));
    announce(status === "active" ? `${isolated(provider.name)} is on.` : `${isolated(provider.name)} is off.`);
  });
  const deleting = async () => {
    await drop(props.of);
    announce(`${isolated(provider.name)} is deleted.`);
    go(href("providers"));
  };
  return (
    <>
      <LinkButton href={href("health", provider.id)}>Health</LinkButton>
      <Button onClick={() => setOpen("edit")}>Change</Button>
      {provider.kind === "contract" && <Button onClick={() => setOpen("rotate")}>Rotate secret</Button>}
      {provider.status === "auto_disabled" && (
        <Button busy={switching.busy} onClick={() => void switching.run("active")}>
          Put back
        </Button>
      )}
      {(on || !provider.needsTest) && (
        <Button busy={switching.busy} onClick={() => void switching.run(on ? "disabled" : "active")}>
          {on ? "Turn off" : "Turn on"}
        </Button>
      )}
      <Button kind="danger" onClick={() => setOpen("delete")}>
        Delete
      </Button>
      {switching.problem && (
        <ProblemBox
          of={switching.problem}
          onRetry={() => {
            switching.clear();
            props.onReload();
          }}
          retryLabel="Read it again"
        />
      )}
      {open === "edit" && <Edit of={props.of} onChanged={props.onRead} onClose={close} />}
      {open === "rotate" && provider.kind === "contract" && (
        <Rotate of={{ ...props.of, provider }} onChanged={props.onRead} onClose={close} />
      )}
      {open === "delete" && (
        <Confirm
          title={`Delete ${isolated(provider.name)}`}
          typed={provider.name}
          action="Delete"
          danger
          onConfirm={deleting}
          onReread={async () => props.onRead(await readOne(provider.id))}
          onClose={close}
        >
          <p>It is asked nothing more from now on, and its secret is gone. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}
