import { useEffect, useRef, useState } from "preact/hooks";
import type { EntryShown, InstanceShown, ProviderMade } from "../../api";
import { announce } from "../../announce";
import { Intent } from "../../intent";
import { Button, Form, FormFoot, Loaded, LinkButton, Notice, Page, Section, TextField } from "../../kit";
import { isolated } from "../../naming";
import { useAction, useLoad } from "../../load";
import { href } from "../../router";
import { readOne } from "../instances/calls";
import { create, test } from "../providers/calls";
import { Report } from "../providers/report";
import { TestFailure } from "../providers/test_failure";
import { createBody, newDraft } from "./drafts";
import { BindingFields } from "./fields";
import { Remote, useEntry } from "./remote";

interface Made {
  provider: ProviderMade;
  testQuery: string;
}

const ASKED = "Asked for real: once before it is saved, and once more to show what it finds.";

/** Two columns: what is there, and what becomes of it here. */
export function Bind({ instanceId, remoteId }: { instanceId: string; remoteId: string }) {
  const read = useLoad((signal) => readOne(instanceId, signal), [instanceId]);
  const entry = useEntry(instanceId, remoteId);
  const [made, setMade] = useState<Made | null>(null);
  const instance = read.data?.instance;
  return (
    <Page
      title={made ? `${isolated(made.provider.name)} is bound` : "Bind a knowledge base"}
      back={{ href: href("instances", instanceId), label: instance?.name ?? "The instance" }}
      lead="Searched once before anything is saved, so that what is saved has worked."
    >
      <Loaded from={read}>
        {(data) => (
          <div class="binding">
            <Remote instance={data.instance} remoteId={remoteId} entry={entry} />
            {made ? (
              <Bound of={made} instance={data.instance} />
            ) : (
              (entry.data || entry.problem) && (
                <BindForm instance={data.instance} remoteId={remoteId} entry={entry.data} onMade={setMade} />
              )
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function BindForm(props: {
  instance: InstanceShown;
  remoteId: string;
  entry: EntryShown | null;
  onMade: (made: Made) => void;
}) {
  const { instance, remoteId, entry } = props;
  const [draft, setDraft] = useState(() => newDraft(instance.kind, entry?.name ?? ""));
  const [testQuery, setTestQuery] = useState("");
  const intent = useRef(new Intent());
  const binding = useAction(async () => {
    const body = createBody(instance.kind, draft, { instanceId: instance.id, remoteId, testQuery });
    const provider = await create(body, intent.current);
    announce(`${isolated(provider.name)} is bound, and active.`);
    props.onMade({ provider, testQuery });
  });
  return (
    <Section title="Here">
      <Form onSubmit={() => void binding.run()} problem={binding.problem} label="The binding">
        <TestFailure of={binding.problem} />
        <BindingFields kind={instance.kind} draft={draft} onDraft={setDraft} entry={entry} />
        <TextField
          label="Test query"
          value={testQuery}
          onValue={setTestQuery}
          pointer="/testQuery"
          hint={instance.kind === "dify" ? `${ASKED} At most 250 characters.` : ASKED}
        />
        <FormFoot>
          <LinkButton href={href("instances", instance.id)}>Cancel</LinkButton>
          <Button type="submit" kind="primary" busy={binding.busy}>
            Test and bind
          </Button>
        </FormFoot>
      </Form>
    </Section>
  );
}

function Bound({ of, instance }: { of: Made; instance: InstanceShown }) {
  const { provider, testQuery } = of;
  const box = useRef<HTMLDivElement>(null);
  const found = useLoad(async () => (await test(provider.id, { query: testQuery })).report, [provider.id]);
  useEffect(() => box.current?.focus(), []);
  return (
    <div class="stack" ref={box} tabIndex={-1}>
      <Notice tone="ok" title="It is bound, and active">
        <p>
          Searches of {provider.exposureProfile === "customer_safe" ? "customers and agents" : "agents"} ask it from now
          on.
        </p>
      </Notice>
      <div class="row">
        <LinkButton kind="primary" href={href("instances", instance.id, "edit", provider.id)}>
          Change how it is asked
        </LinkButton>
        <LinkButton href={href("providers", provider.id)}>Its registration</LinkButton>
        <LinkButton href={href("instances", instance.id)}>Bind another</LinkButton>
      </div>
      <Section title="What the test query finds">
        <Loaded from={found}>{(report) => <Report of={report} />}</Loaded>
      </Section>
    </div>
  );
}
