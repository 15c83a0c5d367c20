// Sends the slices of a file one after the other, waits where the gateway asks for it, and counts what became of rows.
import type { RowShown } from "../../api";
import { ApiProblem } from "../../problem";
import { importRows } from "./calls";
import { isTooLarge, type Slice, type Sliced } from "./rows";

const WAITED_FOR = new Set(["rate_limited", "import_running", "import_ended", "busy"]);
const BROKEN = new Set(["offline", "no_answer", "unreadable_answer"]);
const MOST_WAITS = 30;
const MOST_FAILURES = 5;
const WAIT_S = 2;

export interface Refusal {
  row: number;
  why: string[];
  /** How the row begins, for finding it in the file. */
  begins: string;
}

export interface Tally {
  done: number;
  created: number;
  updated: number;
  unchanged: number;
  refusals: Refusal[];
  /** Rows that changed a card which an earlier row of this file was about: each with that row. */
  twice: [number, number][];
  waitingS: number | null;
}

export const NOTHING: Tally = {
  done: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  refusals: [],
  twice: [],
  waitingS: null,
};

/** Throws an ApiProblem where it gives up, and an AbortError once `signal` is aborted. Sending all again is safe. */
export async function importAll(
  id: string,
  file: Sliced,
  signal: AbortSignal,
  onTally: (tally: Tally) => void,
): Promise<void> {
  let tally = NOTHING;
  const seen = new Map<string, number>();
  const tell = (change: Partial<Tally>) => onTally((tally = { ...tally, ...change }));
  for (const slice of file.slices) {
    let places = slice.rows.map((_, at) => at);
    while (places.length > 0) {
      const rows = await reported(id, file, slice, places, signal, (waitingS) => tell({ waitingS }));
      tell({ ...counted(tally, rows, places, slice, seen), waitingS: null });
      places = places.filter((_, at) => rows[at]?.status === "skipped");
    }
  }
}

async function reported(
  id: string,
  file: Sliced,
  slice: Slice,
  places: number[],
  signal: AbortSignal,
  onWait: (seconds: number) => void,
): Promise<RowShown[]> {
  const [only = ""] = slice.rows;
  if (slice.rows.length === 1 && isTooLarge(only)) return [tooLarge()];
  const body = file.header + places.map((at) => slice.rows[at]).join("");
  for (let waits = 0, failures = 0; ;) {
    try {
      return (await importRows(id, body, file.mediaType, signal)).rows;
    } catch (thrown) {
      if (!(thrown instanceof ApiProblem)) throw thrown;
      if (BROKEN.has(thrown.code)) failures += 1;
      else if (thrown.status !== 503 && !WAITED_FOR.has(thrown.code)) throw thrown;
      if (++waits > MOST_WAITS || failures > MOST_FAILURES) throw thrown;
      const seconds = thrown.retryAfterS ?? WAIT_S;
      onWait(seconds);
      await wait(seconds, signal);
    }
  }
}

function counted(was: Tally, rows: RowShown[], places: number[], slice: Slice, seen: Map<string, number>): Tally {
  const now = { ...was, refusals: [...was.refusals], twice: [...was.twice] };
  rows.forEach((row, at) => {
    const place = places[at] ?? 0;
    const number = slice.first + place;
    if (row.status === "skipped") return;
    now.done += 1;
    if (row.status === "refused")
      now.refusals.push({ row: number, why: whyOf(row), begins: (slice.rows[place] ?? "").slice(0, 120) });
    else now[row.status] += 1;
    const earlier = row.id === null ? undefined : seen.get(row.id);
    if (row.status === "updated" && earlier !== undefined) now.twice.push([number, earlier]);
    if (row.id !== null && earlier === undefined) seen.set(row.id, number);
  });
  return now;
}

function whyOf(row: RowShown): string[] {
  const faults = row.errors.map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  return faults.length > 0 ? faults : [row.code ?? "refused"];
}

function tooLarge(): RowShown {
  const errors = [{ pointer: "", detail: "The row is larger than a request may be." }];
  return { row: 1, status: "refused", id: null, code: "body_too_large", errors };
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
