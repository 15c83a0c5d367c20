import { useEffect, useState } from "preact/hooks";
import type { CardShown, CollectionShown } from "../../api";
import { Button, Empty, LinkButton, ProblemBox, Skeleton, Table, TextField, Time, type Column } from "../../kit";
import { usePages } from "../../load";
import { href } from "../../router";
import { counted } from "../../words";
import { readPage } from "./calls";
import { normOf } from "./limits";

const SHOWN_KEYS = 8;

/** Cards, page by page. A filter looks through those that were read, says so, and reads on when told to. */
export function Cards({ of }: { of: CollectionShown }) {
  const pages = usePages((cursor, signal) => readPage(of.id, cursor, signal), [of.id]);
  const [wanted, setWanted] = useState("");
  const [all, setAll] = useState(false);
  useEffect(() => {
    if (pages.problem) setAll(false);
    else if (all && pages.more && !pages.busy) pages.readOn();
  }, [all, pages.more, pages.busy, pages.problem]);
  if (pages.rows === null)
    return pages.problem ? <ProblemBox of={pages.problem} onRetry={pages.reload} /> : <Skeleton />;
  const found = filtered(pages.rows, wanted);
  const partly = wanted.trim() !== "" && pages.more;
  return (
    <div class="stack">
      {pages.rows.length > 0 && (
        <div class="stack tight">
          <TextField label="Filter by key or title" type="search" value={wanted} onValue={setWanted} />
          <p class="muted small-text" role="status">
            {wanted.trim() !== "" && `${counted(found.length, "card")} of the ${pages.rows.length} that were read`}
          </p>
        </div>
      )}
      {partly && (
        <p class="row">
          <span>There are more cards than were looked through.</span>
          <Button small busy={all} onClick={() => setAll(true)}>
            Look through all
          </Button>
        </p>
      )}
      {pages.problem && <ProblemBox of={pages.problem} onRetry={pages.readOn} />}
      <Table
        caption="Cards"
        columns={columnsOf(of.id)}
        rows={found}
        rowKey={(one) => one.id}
        more={pages.more && !all}
        busy={pages.busy}
        onMore={pages.readOn}
        empty={<None of={of} any={pages.rows.length > 0} />}
      />
    </div>
  );
}

function filtered(rows: CardShown[], wanted: string): CardShown[] {
  const text = normOf(wanted);
  if (text === "") return rows;
  return rows.filter((card) => card.normKeys.some((key) => key.includes(text)) || normOf(card.title).includes(text));
}

function columnsOf(collectionId: string): Column<CardShown>[] {
  return [
    {
      head: "Card",
      kind: "main",
      cell: (one) => <a href={href("cards", collectionId, one.id)}>{one.title || one.keys[0]}</a>,
    },
    { head: "Keys", kind: "wide", cell: (one) => <KeyList of={one.keys} /> },
    {
      head: "Changed",
      cell: (one) => (
        <span class="nowrap">
          <Time at={one.updatedAt} />
        </span>
      ),
    },
  ];
}

function KeyList({ of }: { of: string[] }) {
  return (
    <ul class="chips">
      {of.slice(0, SHOWN_KEYS).map((key, at) => (
        <li key={at} class="chip">
          {key}
        </li>
      ))}
      {of.length > SHOWN_KEYS && <li class="muted small-text">and {of.length - SHOWN_KEYS} more</li>}
    </ul>
  );
}

function None({ of, any }: { of: CollectionShown; any: boolean }) {
  return (
    <div class="card">
      {any ? (
        <Empty title="No card that was read has such a key or title" />
      ) : (
        <Empty title="There is no card yet">
          <div class="row">
            <LinkButton href={href("cards", of.id, "new")}>Write one</LinkButton>
            <LinkButton href={href("cards", of.id, "import")}>Import a glossary</LinkButton>
          </div>
        </Empty>
      )}
    </div>
  );
}
