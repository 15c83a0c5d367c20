import type { EntryShown, InstanceShown } from "../../api";
import type { Bound } from "../bindings/list";
import { Badge, Empty, Table, type Column } from "../../kit";
import { isolated } from "../../naming";
import { href } from "../../router";
import type { Place } from "./calls";
import { addressOf, learn } from "./place";
import { factsOf, WHY_NOT } from "./products";

interface Props {
  of: InstanceShown;
  entries: EntryShown[];
  bindings: Bound[] | null;
  trail: string[];
  place: Place;
}

export function CatalogTable(props: Props) {
  learn(props.entries);
  const inside = (id: string) => addressOf(props.of.id, new URLSearchParams(), { trail: [...props.trail, id] });
  const columns: Column<EntryShown>[] = [
    { head: "Knowledge base", kind: "main", cell: (one) => <Name of={one} inside={inside(one.id)} /> },
    { head: "What it is", kind: "wide", cell: (one) => <About of={one} /> },
    { head: "Binding", cell: (one) => <Binding of={one} instance={props.of} bindings={props.bindings} /> },
  ];
  return (
    <Table
      caption="Knowledge bases on the server"
      columns={columns}
      rows={props.entries}
      rowKey={(one) => one.id}
      empty={
        <div class="card">
          <Empty title={props.place.search ? "Nothing has that name here" : "Nothing is here"} />
        </div>
      }
    />
  );
}

function Name({ of, inside }: { of: EntryShown; inside: string }) {
  return (
    <>
      {of.kind === "folder" ? <a href={inside}>{of.name || of.id}</a> : of.name || of.id}
      <div class="muted small-text">
        <code>{of.id}</code>
      </div>
    </>
  );
}

function About({ of }: { of: EntryShown }) {
  const facts = factsOf(of);
  return (
    <>
      {of.description}
      {facts.length > 0 && <div class="muted small-text">{facts.join(" · ")}</div>}
    </>
  );
}

function Binding({ of, instance, bindings }: { of: EntryShown; instance: InstanceShown; bindings: Bound[] | null }) {
  const bound = bindings?.find(({ provider }) => provider?.remoteId === of.id)?.provider;
  if (bound)
    return (
      <>
        Bound as <a href={href("instances", instance.id, "edit", bound.id)}>{bound.name}</a>
      </>
    );
  if (of.notSearchable !== null) {
    const { word, means } = WHY_NOT[of.notSearchable];
    return (
      <>
        <Badge>{word}</Badge>
        <div class="muted small-text">{means}</div>
      </>
    );
  }
  return (
    <a
      class="button small"
      href={href("instances", instance.id, "bind", of.id)}
      aria-label={`Bind ${isolated(of.name)}`}
    >
      Bind
    </a>
  );
}
