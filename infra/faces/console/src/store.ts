// A value that views can watch. Kept this small so that nothing but the page's memory can hold it.
import { useEffect, useState } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  watch(watcher: () => void): () => void;
}

export function store<T>(first: T): Store<T> {
  let value = first;
  const watchers = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const watcher of [...watchers]) watcher();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export function useStore<T>(of: Store<T>): T {
  const [, redraw] = useState({});
  useEffect(() => of.watch(() => redraw({})), [of]);
  return of.get();
}
