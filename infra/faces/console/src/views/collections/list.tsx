import { useState } from "preact/hooks";
import type { CollectionShown } from "../../api";
import { Button, Empty, Exposure, Notice, Page, ProblemBox, Skeleton, Table, Time, type Column } from "../../kit";
import { isolated, named } from "../../naming";
import { usePages } from "../../load";
import { href } from "../../router";
import { useStore } from "../../store";
import { counted } from "../../words";
import { readPage } from "./calls";
import { Create } from "./create";
import { gone } from "./gone";

const COLUMNS: Column<CollectionShown>[] = [
  {
    head: "Collection",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("cards", one.id)}>{named(one)}</a>
        <div class="row tags">
          <Exposure of={one.exposureProfile} />
          <code class="muted">{one.id}</code>
        </div>
      </>
    ),
  },
  { head: "Cards", kind: "num", cell: (one) => one.cardCount.toLocaleString("en") },
  { head: "Made", cell: (one) => <Time at={one.createdAt} /> },
];

export function List() {
  const [creating, setCreating] = useState(false);
  const pages = usePages(readPage, []);
  const deleted = useStore(gone);
  const open = () => setCreating(true);
  return (
    <Page
      title="Cards"
      lead="A card explains a word: what it means here. Cards lie in collections."
      actions={
        <Button kind="primary" onClick={open}>
          New collection
        </Button>
      }
    >
      {deleted.map((one) => (
        <Notice key={one.id} title={`“${isolated(one.name)}” is deleted`}>
          <p>
            It is gone for everybody, and its name is free. What is stored of its {counted(one.cards, "card")} is
            cleared away in the background.
          </p>
        </Notice>
      ))}
      {pages.problem && <ProblemBox of={pages.problem} onRetry={pages.reload} />}
      {pages.rows === null ? (
        !pages.problem && <Skeleton />
      ) : (
        <Table
          caption="Collections"
          columns={COLUMNS}
          rows={pages.rows}
          rowKey={(one) => one.id}
          more={pages.more}
          busy={pages.busy}
          onMore={pages.readOn}
          empty={
            <div class="card">
              <Empty title="There is no collection">
                <p>Make one, then write cards or import a glossary.</p>
                <Button onClick={open}>New collection</Button>
              </Empty>
            </div>
          }
        />
      )}
      {creating && <Create onClose={() => setCreating(false)} />}
    </Page>
  );
}
