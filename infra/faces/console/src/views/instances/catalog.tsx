import { useEffect, useRef, useState } from "preact/hooks";
import type { CatalogShown, InstanceShown } from "../../api";
import type { Bound } from "../bindings/list";
import { Button, Form, Loaded, Notice, TextField } from "../../kit";
import { useLoad } from "../../load";
import { go, href } from "../../router";
import { readCatalog, type Place } from "./calls";
import { CatalogTable } from "./catalog_table";
import { addressOf, namedAs, placeOf, trailOf } from "./place";

interface Props {
  of: InstanceShown;
  query: URLSearchParams;
  bindings: Bound[] | null;
}

/** What the server shows now. Where one is in it is in the address, so that the way back from a binding leads here. */
export function Catalog({ of, query, bindings }: Props) {
  const place = placeOf(query);
  const catalog = useLoad(
    (signal) => readCatalog(of.id, place, signal),
    [of.id, place.page, place.search, place.parent],
  );
  const trail = trailOf(query);
  const box = useFocusOn(`${place.parent} ${place.page}`);
  return (
    <div class="stack catalog" ref={box} tabIndex={-1} role="group" aria-label="What is on it">
      <Search key={place.parent} of={of} query={query} place={place} busy={catalog.busy} />
      {trail.length > 0 && <Trail of={of} trail={trail} />}
      <Loaded from={catalog}>
        {(data) => (
          <>
            <CatalogTable of={of} entries={data.entries} bindings={bindings} trail={trail} place={place} />
            <Paging of={of} catalog={data} query={query} />
          </>
        )}
      </Loaded>
      <ById of={of} />
    </div>
  );
}

// The link that led into a folder or to a page is gone then: what it led to gets the focus.
function useFocusOn(place: string) {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef(place);
  useEffect(() => {
    if (last.current !== place) box.current?.focus();
    last.current = place;
  }, [place]);
  return box;
}

function Search(props: { of: InstanceShown; query: URLSearchParams; place: Place; busy: boolean }) {
  const [text, setText] = useState(props.place.search);
  useEffect(() => setText(props.place.search), [props.place.search]);
  const search = (wanted: string) => go(addressOf(props.of.id, props.query, { search: wanted.trim(), page: 1 }));
  return (
    <form
      class="search-line"
      role="search"
      aria-label="What is on this server"
      onSubmit={(event) => {
        event.preventDefault();
        search(text);
      }}
    >
      <TextField label="Search by name" type="search" value={text} onValue={setText} maxLength={120} />
      <Button type="submit" busy={props.busy}>
        Search
      </Button>
      {props.place.search !== "" && (
        <Button kind="quiet" onClick={() => search("")}>
          Show all
        </Button>
      )}
    </form>
  );
}

function Trail({ of, trail }: { of: InstanceShown; trail: string[] }) {
  return (
    <nav class="trail" aria-label="Folders">
      <ol>
        <li>
          <a href={href("instances", of.id)}>Top</a>
        </li>
        {trail.map((id, at) => (
          <li key={id}>
            {at === trail.length - 1 ? (
              <span aria-current="page">{namedAs(id)}</span>
            ) : (
              <a href={addressOf(of.id, new URLSearchParams(), { trail: trail.slice(0, at + 1) })}>{namedAs(id)}</a>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Paging({ of, catalog, query }: { of: InstanceShown; catalog: CatalogShown; query: URLSearchParams }) {
  const to = (page: number) => addressOf(of.id, query, { page });
  const many = catalog.page > 1 || catalog.hasMore;
  return (
    <>
      {many && (
        <nav class="row apart pages" aria-label="Pages">
          {catalog.page > 1 ? <a href={to(catalog.page - 1)}>Previous page</a> : <span />}
          <span class="muted">
            Page {catalog.page}
            {catalog.total !== null && ` of ${catalog.total} entries`}
          </span>
          {catalog.hasMore ? <a href={to(catalog.page + 1)}>Next page</a> : <span />}
        </nav>
      )}
      {catalog.isCut && !catalog.hasMore && (
        <Notice tone="warn" title="There is more than is shown">
          <p>No more than 500 are listed. Search by name to find the others.</p>
        </Notice>
      )}
    </>
  );
}

function ById({ of }: { of: InstanceShown }) {
  const [id, setId] = useState("");
  const bind = () => {
    if (id.trim() !== "") go(href("instances", of.id, "bind", id.trim()));
  };
  return (
    <details>
      <summary>Bind by an id</summary>
      <Form onSubmit={bind} problem={null} label="Bind by an id">
        <div class="search-line">
          <TextField
            label="Id of a knowledge base"
            mono
            value={id}
            onValue={setId}
            maxLength={128}
            hint="For a key that may search and not list: read the id in the product."
          />
          <Button type="submit">Go on</Button>
        </div>
      </Form>
    </details>
  );
}
