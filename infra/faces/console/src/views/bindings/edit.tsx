import { useState } from "preact/hooks";
import type { EntryShown } from "../../api";
import { announce } from "../../announce";
import { Button, Confirm, Empty, Form, FormFoot, LinkButton, Loaded, Page, Section, TextField } from "../../kit";
import { isolated } from "../../naming";
import { useAction, useLoad } from "../../load";
import { go, href } from "../../router";
import { readOne as readInstance } from "../instances/calls";
import { StatusBadge } from "../providers/badges";
import { change, drop, readOne, type Read } from "../providers/calls";
import { States } from "../providers/registration";
import { TestFailure } from "../providers/test_failure";
import { TestPanel } from "../providers/test_panel";
import { draftFrom, isAskedOtherwise, isBoundProvider, patchBody, type BoundProvider } from "./drafts";
import { BindingFields } from "./fields";
import { Remote, useEntry } from "./remote";
import { Restore } from "./restore";

export interface BindingRead extends Read {
  provider: BoundProvider;
}

export function EditBinding({ instanceId, providerId }: { instanceId: string; providerId: string }) {
  const read = useLoad((signal) => readOne(providerId, signal), [providerId]);
  const instance = useLoad((signal) => readInstance(instanceId, signal), [instanceId]);
  const of = boundTo(read.data, instanceId);
  const entry = useEntry(instanceId, of?.provider.remoteId ?? null);
  return (
    <Page
      title={read.data?.provider.name ?? "Binding"}
      back={{ href: href("instances", instanceId), label: instance.data?.instance.name ?? "The instance" }}
      lead={
        of && (
          <span class="row">
            <StatusBadge of={of.provider} /> <code>{of.provider.id}</code>
          </span>
        )
      }
      actions={of && <Actions of={of} onRead={read.put} />}
    >
      <Loaded from={read}>
        {(data) =>
          of ? (
            <>
              <States of={data.provider} />
              <div class="binding">
                <Loaded from={instance}>
                  {({ instance }) => <Remote instance={instance} remoteId={of.provider.remoteId} entry={entry} />}
                </Loaded>
                <EditForm key={of.provider.generation} of={of} entry={entry.data} onRead={read.put} />
              </div>
              <TestPanel of={data.provider} onTested={read.put} />
            </>
          ) : (
            <Empty title="It is not bound to this instance">
              <a href={href("providers", providerId)}>Go to the provider</a>
            </Empty>
          )
        }
      </Loaded>
    </Page>
  );
}

function boundTo(read: Read | null, instanceId: string): BindingRead | null {
  if (!read || !isBoundProvider(read.provider) || read.provider.instanceId !== instanceId) return null;
  return { provider: read.provider, etag: read.etag };
}

function Actions({ of, onRead }: { of: BindingRead; onRead: (read: Read) => void }) {
  const { provider } = of;
  const [open, setOpen] = useState<"restore" | "delete" | null>(null);
  const close = () => setOpen(null);
  // What is written in the form stays bound to what was read for it.
  const [newer, setNewer] = useState<Read | null>(null);
  const deleting = async () => {
    await drop(newer ?? of);
    announce(`${isolated(provider.name)} is deleted.`);
    go(`${href("instances", provider.instanceId)}?tab=bound`);
  };
  return (
    <>
      <LinkButton href={href("providers", provider.id)}>Registration</LinkButton>
      <Button onClick={() => setOpen("restore")}>Restore defaults</Button>
      <Button kind="danger" onClick={() => setOpen("delete")}>
        Delete
      </Button>
      {open === "restore" && <Restore of={of} onRead={onRead} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title={`Delete ${isolated(provider.name)}`}
          typed={provider.name}
          action="Delete"
          danger
          onConfirm={deleting}
          onReread={async () => setNewer(await readOne(provider.id))}
          onClose={close}
        >
          <p>The knowledge base is asked nothing more. On the server nothing is changed. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function EditForm({ of, entry, onRead }: { of: BindingRead; entry: EntryShown | null; onRead: (read: Read) => void }) {
  const { provider } = of;
  const [draft, setDraft] = useState(() => draftFrom(provider));
  const [testQuery, setTestQuery] = useState("");
  const otherwise = isAskedOtherwise(draft, provider);
  const saving = useAction(async () => {
    const body = patchBody(draft, provider, testQuery);
    const changed = Object.keys(body).length > 0;
    if (changed) onRead(await change(of, body));
    announce(changed ? "Saved." : "Nothing was changed.");
  });
  const reread = useAction(async () => onRead(await readOne(provider.id)));
  return (
    <Section title="Here">
      <Form
        onSubmit={() => void saving.run()}
        problem={saving.problem}
        onReload={() => void reread.run()}
        label="The binding"
      >
        <TestFailure of={saving.problem} />
        <BindingFields kind={provider.kind} draft={draft} onDraft={setDraft} entry={entry ?? known(provider)} />
        {otherwise && (
          <TextField
            label="Test query"
            value={testQuery}
            onValue={setTestQuery}
            pointer="/testQuery"
            hint="It is asked in another way from now on, so that is tried for real before it is saved."
          />
        )}
        <FormFoot>
          <Button type="submit" kind="primary" busy={saving.busy}>
            {otherwise ? "Test and save" : "Save"}
          </Button>
        </FormFoot>
      </Form>
    </Section>
  );
}

function known(provider: BoundProvider) {
  return {
    hasGraph: provider.kind === "ragflow" ? provider.hasGraph : null,
    isEconomy: provider.kind === "dify" ? provider.isEconomy : null,
  };
}
