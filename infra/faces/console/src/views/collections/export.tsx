import { useEffect, useRef, useState } from "preact/hooks";
import type { CollectionShown } from "../../api";
import { announce } from "../../announce";
import { Button, Dialog, ProblemBox } from "../../kit";
import { useAction } from "../../load";
import { unreadable } from "../../problem";
import { counted } from "../../words";
import { exportPage } from "./calls";

/** Reads all pages and hands them over as one file. It is put together in the page's memory. */
export function Export({ of }: { of: CollectionShown }) {
  const [lines, setLines] = useState(0);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const exporting = useAction(async () => {
    const parts: string[] = [];
    let cursor: string | null = null;
    let count = 0;
    do {
      const page: Awaited<ReturnType<typeof exportPage>> = await exportPage(of.id, cursor, leaving.current.signal);
      parts.push(page.text);
      count += page.text.split("\n").length - 1;
      setLines(count);
      if (page.nextCursor !== null && page.nextCursor === cursor) throw unreadable();
      cursor = page.nextCursor;
    } while (cursor !== null);
    handOver(parts, fileNameOf(of.name));
    announce(`${counted(count, "card")} exported.`);
  });
  return (
    <>
      <Button
        busy={exporting.busy}
        onClick={() => {
          setLines(0);
          void exporting.run();
        }}
      >
        {exporting.busy && of.cardCount > 1000
          ? `${lines.toLocaleString("en")} of ${of.cardCount.toLocaleString("en")}`
          : "Export"}
      </Button>
      {exporting.problem && (
        <Dialog title="The export broke off" onClose={exporting.clear}>
          <ProblemBox of={exporting.problem} onRetry={() => void exporting.run()} />
        </Dialog>
      )}
    </>
  );
}

function handOver(parts: string[], name: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function fileNameOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  return `${plain || "cards"}.jsonl`;
}
