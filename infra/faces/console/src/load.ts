// Reading and doing, from a view: what is read is broken off when the view is left, what is done is not.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { holdFront } from "./hold";
import { asProblem, isAbort, type ApiProblem } from "./problem";

export interface Loading<T> {
  /** What was read last; it stays while it is read again. */
  data: T | null;
  problem: ApiProblem | null;
  busy: boolean;
  reload(): void;
  /** Puts in what a change answered, so that it need not be read again. */
  put(data: T): void;
}

/** `read` is called at once, and again whenever one of `on` changes. */
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, on: readonly unknown[]): Loading<T> {
  const [state, set] = useState<{ data: T | null; problem: ApiProblem | null; busy: boolean }>({
    data: null,
    problem: null,
    busy: true,
  });
  const current = useRef<AbortController | null>(null);
  const start = useCallback((fresh: boolean) => {
    current.current?.abort();
    const own = (current.current = new AbortController());
    set((was) => ({ data: fresh ? null : was.data, problem: fresh ? null : was.problem, busy: true }));
    read(own.signal).then(
      (data) => {
        if (!own.signal.aborted) set({ data, problem: null, busy: false });
      },
      (thrown: unknown) => {
        if (own.signal.aborted || isAbort(thrown)) return;
        set((was) => ({ data: was.data, problem: asProblem(thrown), busy: false }));
      },
    );
  }, on);
  useEffect(() => {
    start(true);
    return () => current.current?.abort();
  }, [start]);
  const put = useCallback((data: T) => {
    current.current?.abort();
    set({ data, problem: null, busy: false });
  }, []);
  return { ...state, reload: () => start(false), put };
}

export interface Pages<T> {
  rows: T[] | null;
  problem: ApiProblem | null;
  busy: boolean;
  /** Whether there are rows after these. */
  more: boolean;
  readOn(): void;
  reload(): void;
}

interface Page<T> {
  rows: T[];
  nextCursor: string | null;
}

/** A list that is read page by page; `read` gets the cursor of the page, null for the first. */
export function usePages<T>(
  read: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
  on: readonly unknown[],
): Pages<T> {
  const first = useLoad((signal) => read(null, signal), on);
  const [later, setLater] = useState<{ rows: T[]; cursor: string | null } | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => {
    setLater(null);
    setProblem(null);
    return () => current.current?.abort();
  }, [first.data]);
  const cursor = later ? later.cursor : (first.data?.nextCursor ?? null);
  const readOn = () => {
    if (cursor === null || busy) return;
    const own = (current.current = new AbortController());
    setBusy(true);
    read(cursor, own.signal).then(
      (page) => {
        setBusy(false);
        setProblem(null);
        const next = page.nextCursor === cursor ? null : page.nextCursor; // the same page again is the end
        setLater((was) => ({ rows: [...(was?.rows ?? []), ...page.rows], cursor: next }));
      },
      (thrown: unknown) => {
        setBusy(false);
        if (isAbort(thrown)) return;
        setProblem(asProblem(thrown));
      },
    );
  };
  return {
    rows: first.data && [...first.data.rows, ...(later?.rows ?? [])],
    problem: first.problem ?? problem,
    busy: first.busy || busy,
    more: cursor !== null,
    readOn,
    reload: first.reload,
  };
}

export interface Doing<A extends unknown[]> {
  run(...args: A): Promise<void>;
  busy: boolean;
  problem: ApiProblem | null;
  clear(): void;
}

/**
 * A change. It is not broken off when its view is left; a second run while one is under way is ignored, and the dialog in
 * front is held until it is done.
 */
export function useAction<A extends unknown[]>(change: (...args: A) => Promise<void>): Doing<A> {
  const [state, set] = useState<{ busy: boolean; problem: ApiProblem | null }>({ busy: false, problem: null });
  const under = useRef(false);
  const run = async (...args: A) => {
    if (under.current) return;
    under.current = true;
    const release = holdFront();
    set({ busy: true, problem: null });
    try {
      await change(...args);
      set({ busy: false, problem: null });
    } catch (thrown) {
      set({ busy: false, problem: isAbort(thrown) ? null : asProblem(thrown) });
    } finally {
      release();
      under.current = false;
    }
  };
  return { run, ...state, clear: () => set({ busy: false, problem: null }) };
}
