// Cuts a file of cards into pieces that one request may carry. What a row says is for the gateway to judge.

const MOST_ROWS = 200;
/** Of the mebibyte that a request may have. */
const MOST_BYTES = 1_000_000;
const MOST_FILE_BYTES = 200_000_000;

export interface Slice {
  /** The number of its first row in the file, counted from 1. */
  first: number;
  rows: string[];
}

export interface Sliced {
  mediaType: "text/csv" | "application/x-ndjson";
  /** Stands before the rows of every request. */
  header: string;
  slices: Slice[];
  total: number;
}

/** The file cannot be read, or its rows cannot be told apart; the message says why. */
export class Unsliceable extends Error {}

/** By its name a file is a table (`.csv`) or JSON Lines. */
export async function sliced(file: File): Promise<Sliced> {
  if (file.size > MOST_FILE_BYTES)
    throw new Unsliceable("The file is larger than 200 MB. Import it with kgw cards import, or in parts.");
  const text = await textOf(file);
  const isTable = /\.csv$/i.test(file.name);
  const [header, rows] = isTable ? tableOf(text) : ["", linesOf(text)];
  const slices = gathered(rows);
  if (slices.length === 0) throw new Unsliceable("There is no row in this file.");
  return { mediaType: isTable ? "text/csv" : "application/x-ndjson", header, slices, total: rows.length };
}

export function isTooLarge(row: string): boolean {
  return bytesOf(row) > MOST_BYTES;
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

async function textOf(file: File): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Unsliceable("The file cannot be read as UTF-8.");
  }
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line.trim() !== "")
    .map((line) => `${line}\n`);
}

function tableOf(text: string): [string, string[]] {
  const [header = "", ...rows] = recordsOf(text)
    .filter((cells) => cells.some((cell) => cell.trim() !== ""))
    .map(recordText);
  return [header, rows];
}

function recordText(cells: string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;
}

const END = /,|\r\n|\n|\r|$/g;

/** The records of a table (RFC 4180): quoted cells may hold commas, doubled quotes and line ends. */
function recordsOf(text: string): string[][] {
  const records: string[][] = [];
  let cells: string[] = [];
  for (let at = 0; at < text.length || cells.length > 0;) {
    const [cell, end] = text[at] === '"' ? quotedAt(text, at, records.length) : plainAt(text, at);
    cells.push(cell);
    END.lastIndex = end;
    const found = END.exec(text);
    if (found?.index !== end) throw misplaced(records.length);
    at = END.lastIndex;
    if (found[0] === ",") continue;
    records.push(cells);
    cells = [];
  }
  return records;
}

function plainAt(text: string, start: number): [string, number] {
  END.lastIndex = start;
  const end = END.exec(text)?.index ?? text.length;
  return [text.slice(start, end), end];
}

function quotedAt(text: string, start: number, record: number): [string, number] {
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) throw misplaced(record);
    if (text[quote + 1] !== '"') return [text.slice(start + 1, quote).replaceAll('""', '"'), quote + 1];
    from = quote + 2;
  }
}

function misplaced(record: number): Unsliceable {
  return new Unsliceable(`A quote is not where it may be: look behind row ${Math.max(record - 1, 0)} of the table.`);
}

function gathered(rows: string[]): Slice[] {
  const slices: Slice[] = [];
  let size = 0;
  rows.forEach((row, at) => {
    const bytes = bytesOf(row);
    const last = slices.at(-1);
    if (last && last.rows.length < MOST_ROWS && size + bytes <= MOST_BYTES) {
      last.rows.push(row);
      size += bytes;
    } else {
      slices.push({ first: at + 1, rows: [row] });
      size = bytes;
    }
  });
  return slices;
}
