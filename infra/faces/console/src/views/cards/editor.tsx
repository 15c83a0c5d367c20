import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import { Intent } from "../../intent";
import {
  AreaField,
  Button,
  Confirm,
  Facts,
  Form,
  FormFoot,
  Loaded,
  Notice,
  Page,
  Section,
  TextField,
  Time,
} from "../../kit";
import { useAction, useLoad } from "../../load";
import { go, href } from "../../router";
import { readOne as readCollection } from "../collections/calls";
import { change, create, drop, readOne, type Read } from "./calls";
import { BLANK, changesOf, draftOf, isChanged, keep, leftAt, merged, type Draft, type Field } from "./drafts";
import { Keys, withKeys } from "./keys";
import { bytesOf, charactersOf, MOST_BODY_BYTES, MOST_TITLE_CHARACTERS } from "./limits";
import { Preview } from "./preview";

interface Props {
  collectionId: string;
  /** Null for a new card. */
  cardId: string | null;
}

export function CardEditor({ collectionId, cardId }: Props) {
  const collection = useLoad((signal) => readCollection(collectionId, signal), [collectionId]);
  const read = useLoad(
    async (signal) => (cardId === null ? null : readOne(collectionId, cardId, signal)),
    [collectionId, cardId],
  );
  const card = read.data?.card;
  return (
    <Page
      title={cardId === null ? "New card" : card ? card.title || card.keys[0] || card.id : "Card"}
      back={{ href: href("cards", collectionId), label: collection.data?.collection.name ?? "The collection" }}
      lead={
        card && (
          <span class="row">
            <code>{card.id}</code> changed <Time at={card.updatedAt} />
          </span>
        )
      }
      actions={read.data && <Delete collectionId={collectionId} of={read.data} />}
    >
      {cardId === null ? (
        <Editor collectionId={collectionId} was={null} onRead={() => undefined} />
      ) : (
        <Loaded from={read}>
          {(data) => data && <Editor collectionId={collectionId} was={data} onRead={read.put} />}
        </Loaded>
      )}
    </Page>
  );
}

function Editor(props: { collectionId: string; was: Read | null; onRead: (read: Read) => void }) {
  const { collectionId, was } = props;
  const place = `${collectionId}/${was?.card.id ?? "new"}`;
  const base = was ? draftOf(was.card) : BLANK;
  const [draft, setDraft] = useState(() => leftAt(place) ?? base);
  const [back, setBack] = useState(() => leftAt(place) !== null);
  const [clash, setClash] = useState<{ fields: Field[]; theirs: Draft } | null>(null);
  const [typed, setTyped] = useState("");
  const intent = useRef(new Intent());
  const written = { ...draft, keys: withKeys(draft.keys, [typed]) };
  useKept(place, isChanged(written, base) ? written : null);
  const settle = (next: Draft) => {
    setDraft(next);
    setTyped("");
    setBack(false);
    setClash(null);
  };
  const saving = useAction(async () => {
    setDraft(written);
    setTyped("");
    if (was === null) {
      const made = await create(collectionId, written, intent.current);
      settle(BLANK);
      announce("The card is made.");
      go(href("cards", collectionId, made.id));
      return;
    }
    const body = changesOf(written, base);
    const changed = Object.keys(body).length > 0;
    const read = changed ? await change(collectionId, was, body) : was;
    props.onRead(read);
    settle(draftOf(read.card));
    announce(changed ? "Saved." : "Nothing was changed.");
  });
  const reread = useAction(async () => {
    if (was === null) return;
    const read = await readOne(collectionId, was.card.id);
    const theirs = draftOf(read.card);
    const both = merged(written, base, theirs);
    props.onRead(read);
    settle(both.draft);
    setClash({ fields: both.clashes, theirs });
    saving.clear();
  });
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  return (
    <div class="editor">
      <Section title="Card">
        <Form
          onSubmit={() => void saving.run()}
          problem={saving.problem}
          onReload={() => void reread.run()}
          label="Card"
        >
          {back && (
            <Notice title="What you had typed is back">
              <p>
                It was not saved yet.{" "}
                <Button small onClick={() => settle(base)}>
                  Drop it
                </Button>
              </p>
            </Notice>
          )}
          {clash && <Clash of={clash.fields} theirs={clash.theirs} />}
          <Keys
            keys={draft.keys}
            onKeys={(keys) => {
              saving.clear();
              set({ keys });
            }}
            typed={typed}
            onTyped={setTyped}
          />
          <TextField
            label="Title"
            optional
            value={draft.title}
            onValue={(title) => set({ title })}
            pointer="/title"
            error={overBy(charactersOf(draft.title), MOST_TITLE_CHARACTERS, "characters")}
            hint="Without one, the first key is shown."
          />
          <AreaField
            label="Body"
            mono
            rows={14}
            value={draft.body}
            onValue={(body) => set({ body })}
            pointer="/body"
            error={overBy(bytesOf(draft.body), MOST_BODY_BYTES, "bytes")}
            hint={`Markdown. ${counted(bytesOf(draft.body))} of ${counted(MOST_BODY_BYTES)} bytes.`}
          />
          <FormFoot>
            <Button type="submit" kind="primary" busy={saving.busy}>
              {was ? "Save" : "Make the card"}
            </Button>
          </FormFoot>
        </Form>
      </Section>
      <div class="stack">
        <Preview of={written} />
        {was && <Found of={was} />}
      </div>
    </div>
  );
}

function overBy(count: number, most: number, what: string): string | null {
  return count > most ? `${counted(count - most)} ${what} too many: at most ${counted(most)}.` : null;
}

function counted(count: number): string {
  return count.toLocaleString("en");
}

/** Keeps what is unsaved when the view is left. */
function useKept(place: string, draft: Draft | null): void {
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(() => {
    keep(place, null);
    return () => keep(place, latest.current);
  }, [place]);
}

function Clash({ of, theirs }: { of: Field[]; theirs: Draft }) {
  if (of.length === 0) {
    return (
      <Notice title="It was read again">
        <p>Somebody else’s changes are in it, and yours beside them. Look at it, and save.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="warn" title={`Somebody else has changed the same: ${of.join(", ")}`}>
      <p>Yours is in the fields. Saving puts it in the place of theirs:</p>
      {of.map((field) => (
        <details key={field}>
          <summary>Their {field}</summary>
          <pre class="keep-lines" tabIndex={0}>
            {field === "keys" ? theirs.keys.join("\n") : theirs[field]}
          </pre>
        </details>
      ))}
    </Notice>
  );
}

/** What the gateway has made of the keys: the forms that terms are compared with. */
function Found({ of }: { of: Read }) {
  const { card } = of;
  return (
    <Section title="Found under">
      <ul class="chips">
        {card.normKeys.map((key, at) => (
          <li key={at} class="chip">
            <code>{key}</code>
          </li>
        ))}
      </ul>
      <p class="field-hint">Its keys as they are compared, since it was saved last.</p>
      <Facts
        of={[
          ["Changes", card.generation],
          ["Made", <Time at={card.createdAt} />],
        ]}
      />
    </Section>
  );
}

function Delete({ collectionId, of }: { collectionId: string; of: Read }) {
  const [open, setOpen] = useState(false);
  // What is written in the editor stays bound to what was read for it.
  const [newer, setNewer] = useState<Read | null>(null);
  const name = of.card.title || of.card.keys[0] || of.card.id;
  const deleting = async () => {
    await drop(collectionId, newer ?? of);
    announce("The card is deleted.");
    go(href("cards", collectionId));
  };
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete
      </Button>
      {open && (
        <Confirm
          title="Delete the card"
          action="Delete"
          danger
          onConfirm={deleting}
          onReread={async () => setNewer(await readOne(collectionId, of.card.id))}
          onClose={() => setOpen(false)}
        >
          <p>
            “<bdi>{name}</bdi>” goes, and will be found under none of its {of.card.keys.length} keys. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
