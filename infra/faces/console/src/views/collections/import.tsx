import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import {
  Button,
  Field,
  FormFoot,
  Form,
  LinkButton,
  Loaded,
  Notice,
  Page,
  ProblemBox,
  Section,
  Table,
  type Column,
} from "../../kit";
import { useAction, useLoad } from "../../load";
import { isAbort } from "../../problem";
import { href } from "../../router";
import { counted } from "../../words";
import { readOne } from "./calls";
import { importAll, NOTHING, type Refusal, type Tally } from "./importing";
import { sliced, Unsliceable, type Sliced } from "./rows";

interface Chosen {
  name: string;
  file: Sliced | null;
  error: string | null;
}

export function ImportPage({ id }: { id: string }) {
  const read = useLoad((signal) => readOne(id, signal), [id]);
  const collection = read.data?.collection;
  return (
    <Page
      title="Import cards"
      back={{ href: href("cards", id), label: collection?.name ?? "The collection" }}
      lead="Each row is written whole or refused. The same file again changes nothing: send one that broke off again."
    >
      <Loaded from={read}>{() => <Importer id={id} />}</Loaded>
    </Page>
  );
}

function Importer({ id }: { id: string }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [tally, setTally] = useState<Tally | null>(null);
  const [ended, setEnded] = useState<"done" | "stopped" | null>(null);
  const stopper = useRef<AbortController | null>(null);
  useEffect(() => () => stopper.current?.abort(), []);
  const importing = useAction(async (file: Sliced) => {
    stopper.current = new AbortController();
    setTally(NOTHING);
    setEnded(null);
    try {
      await importAll(id, file, stopper.current.signal, setTally);
      setEnded("done");
      announce("The import is done.");
    } catch (thrown) {
      if (isAbort(thrown)) setEnded("stopped");
      throw thrown;
    }
  });
  const choose = async (file: File | undefined) => {
    setTally(null);
    setEnded(null);
    importing.clear();
    setChosen(file ? await chosenOf(file) : null);
  };
  return (
    <>
      <Section title="The file">
        <Form
          onSubmit={() => {
            if (chosen?.file) void importing.run(chosen.file);
          }}
          problem={null}
          label="Import"
        >
          <Field
            label="File"
            error={chosen?.error ?? null}
            hint="JSON Lines, or a table with commas called .csv, in UTF-8."
          >
            {(marks) => (
              <input
                {...marks}
                type="file"
                accept=".jsonl,.ndjson,.csv,application/x-ndjson,text/csv"
                disabled={importing.busy}
                onChange={(event) => void choose(event.currentTarget.files?.[0])}
              />
            )}
          </Field>
          <Forms />
          {chosen?.file && (
            <p role="status">
              <strong>{chosen.name}</strong>: {counted(chosen.file.total, "row")} in{" "}
              {counted(chosen.file.slices.length, "request")}.
            </p>
          )}
          <FormFoot>
            {importing.busy && <Button onClick={() => stopper.current?.abort()}>Stop</Button>}
            <Button type="submit" kind="primary" disabled={!chosen?.file} busy={importing.busy}>
              Import
            </Button>
          </FormFoot>
        </Form>
      </Section>
      {importing.problem && (
        <ProblemBox of={importing.problem}>
          <p>What was sent before stays. Send the file again to go on.</p>
        </ProblemBox>
      )}
      {tally && chosen?.file && <Progress of={tally} total={chosen.file.total} ended={ended} id={id} />}
    </>
  );
}

async function chosenOf(file: File): Promise<Chosen> {
  try {
    return { name: file.name, file: await sliced(file), error: null };
  } catch (thrown) {
    if (!(thrown instanceof Unsliceable)) throw thrown;
    return { name: file.name, file: null, error: thrown.message };
  }
}

function Forms() {
  return (
    <details>
      <summary>How rows are written</summary>
      <div class="stack tight small-text forms">
        <pre tabIndex={0}>
          {'{"id": "pass", "keys": ["ferry pass", "渡轮卡"], "title": "Ferry pass", "body": "**89 euro** a month."}'}
        </pre>
        <pre tabIndex={0}>{"id,keys,title,body\npass,ferry pass|渡轮卡,Ferry pass,**89 euro** a month."}</pre>
        <p>
          <code>keys</code> and <code>body</code> are needed. The <code>id</code> of a card names that card; any other
          is your own name for the row. Without one, keys and title say which card it is.
        </p>
      </div>
    </details>
  );
}

const COLUMNS: Column<Refusal>[] = [
  { head: "Row", kind: "main", cell: (one) => `Row ${one.row}` },
  { head: "Why", kind: "wide", cell: (one) => one.why.map((why) => <div key={why}>{why}</div>) },
  { head: "Begins", kind: "wide", cell: (one) => <code>{one.begins}</code> },
];
const MOST_SHOWN = 500;

function Progress(props: { of: Tally; total: number; ended: "done" | "stopped" | null; id: string }) {
  const { of, total, ended } = props;
  return (
    <Section title={ended === "done" ? "Imported" : ended === "stopped" ? "Stopped" : "Importing"}>
      <progress class="import-progress" max={total} value={of.done} aria-label="Rows" />
      <p>
        <strong>{of.done.toLocaleString("en")}</strong> of {counted(total, "row")}: {toldOf(of)}.
        {of.waitingS !== null && ` Waiting ${of.waitingS} s, as the gateway asked.`}
      </p>
      {of.twice.length > 0 && (
        <Notice tone="warn" title="Rows about the same card">
          <p>
            The later one has replaced what the earlier one said:{" "}
            {of.twice
              .slice(0, 20)
              .map(([row, earlier]) => `row ${row} after row ${earlier}`)
              .join(", ")}
            {of.twice.length > 20 && " …"}.
          </p>
        </Notice>
      )}
      {of.refusals.length > 0 && (
        <Table
          caption="Refused rows"
          showCaption
          columns={COLUMNS}
          rows={of.refusals.slice(0, MOST_SHOWN)}
          rowKey={(one) => String(one.row)}
        />
      )}
      {of.refusals.length > MOST_SHOWN && (
        <p class="muted">
          The first {MOST_SHOWN} of {of.refusals.length} are shown.
        </p>
      )}
      {ended && (
        <div class="form-foot">
          <LinkButton href={href("cards", props.id)}>See the cards</LinkButton>
        </div>
      )}
    </Section>
  );
}

function toldOf({ created, updated, unchanged, refusals }: Tally): string {
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${refusals.length} refused`;
}
