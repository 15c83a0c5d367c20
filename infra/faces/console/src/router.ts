// Where in the console somebody is: the part of the address after `#`. It names things by their ids and holds no secret.
import { useMemo } from "preact/hooks";
import { announce, unsayAll } from "./announce";
import { anythingHeld } from "./hold";
import { store, useStore } from "./store";

export interface Route {
  /** The first segment: which view. */
  view: string;
  /** The other segments, unescaped. */
  rest: string[];
  query: URLSearchParams;
}

const address = store(location.hash);
let wanted: string | null = null; // where the console itself is going
addEventListener("hashchange", () => {
  const own = location.hash === wanted;
  wanted = null;
  if (!own && anythingHeld() && location.hash !== address.get()) stay();
  else address.set(location.hash);
});

// Back, a link or another address: what must not be left stays, and its address comes back on top of the history.
function stay(): void {
  history.pushState(null, "", address.get() || "#");
  unsayAll();
  announce("First finish here: what is under way or shown this once would be lost.", "bad");
}

export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/").filter(Boolean).map(unescaped);
  return { view, rest, query: new URLSearchParams(query) };
}

export function useRoute(): Route {
  const hash = useStore(address);
  return useMemo(() => routeOf(hash), [hash]);
}

/** `href("providers", id)` is `#/providers/<id>`. */
export function href(...segments: string[]): string {
  return `#/${segments.map(encodeURIComponent).join("/")}`;
}

export function go(to: string): void {
  wanted = to;
  location.hash = to;
}

/** Keeps a choice (a tab, a filter) in the address without a step in the history. */
export function note(name: string, value: string | null): void {
  const [path = "", query = ""] = location.hash.split("?", 2);
  const parameters = new URLSearchParams(query);
  if (value === null || value === "") parameters.delete(name);
  else parameters.set(name, value);
  const text = parameters.toString();
  history.replaceState(null, "", `${path}${text ? `?${text}` : ""}`);
  address.set(location.hash);
}

function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
