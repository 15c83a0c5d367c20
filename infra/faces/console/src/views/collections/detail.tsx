import { useState } from "preact/hooks";
import { announce } from "../../announce";
import { Cards } from "../cards/cards";
import { Button, Confirm, Exposure, LinkButton, Loaded, Page } from "../../kit";
import { isolated } from "../../naming";
import { useLoad } from "../../load";
import { go, href } from "../../router";
import { counted } from "../../words";
import { drop, readOne, type Read } from "./calls";
import { Rename } from "./create";
import { Export } from "./export";
import { gone } from "./gone";

export function Detail({ id }: { id: string }) {
  const read = useLoad((signal) => readOne(id, signal), [id]);
  const collection = read.data?.collection;
  return (
    <Page
      title={collection?.name ?? "Collection"}
      back={{ href: href("cards"), label: "All collections" }}
      lead={
        collection && (
          <span class="row">
            <Exposure of={collection.exposureProfile} /> {counted(collection.cardCount, "card")}{" "}
            <code>{collection.id}</code>
          </span>
        )
      }
      actions={read.data && <Actions of={read.data} onRead={read.put} />}
    >
      <Loaded from={read}>{(data) => <Cards of={data.collection} />}</Loaded>
    </Page>
  );
}

function Actions({ of, onRead }: { of: Read; onRead: (read: Read) => void }) {
  const { collection } = of;
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const close = () => setOpen(null);
  const deleting = async () => {
    await drop(of);
    gone.set([...gone.get(), { id: collection.id, name: collection.name, cards: collection.cardCount }]);
    announce(`${isolated(collection.name)} is deleted.`);
    go(href("cards"));
  };
  return (
    <>
      <LinkButton kind="primary" href={href("cards", collection.id, "new")}>
        New card
      </LinkButton>
      <LinkButton href={href("cards", collection.id, "import")}>Import</LinkButton>
      <Export of={collection} />
      <LinkButton href={`${href("workbench")}?tab=cards&collection=${collection.id}`}>Look up</LinkButton>
      <Button onClick={() => setOpen("rename")}>Rename</Button>
      <Button kind="danger" onClick={() => setOpen("delete")}>
        Delete
      </Button>
      {open === "rename" && <Rename of={of} onRead={onRead} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title={`Delete ${isolated(collection.name)}`}
          typed={collection.name}
          action="Delete"
          danger
          onConfirm={deleting}
          onReread={async () => onRead(await readOne(collection.id))}
          onClose={close}
        >
          <p>
            It and its {counted(collection.cardCount, "card")} are gone for everybody from the gateway’s answer on.
            Export it first if you may want it back: this cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}
