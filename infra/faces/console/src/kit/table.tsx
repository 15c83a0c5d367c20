import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button";

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  /** `main` heads its card on a phone, `num` is set to the right, `wide` may break its words. */
  kind?: "main" | "num" | "wide";
}

interface Props<T> {
  /** Read out as the table's name; shown where `showCaption`. */
  caption: string;
  showCaption?: boolean;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T, at: number) => string;
  empty?: ComponentChildren;
  more?: boolean;
  busy?: boolean;
  onMore?: () => void;
}

/** Rows that are drawn at once: hundreds of cards are more than a phone should lay out, or anybody scroll past. */
const STEP = 50;

// The roles are said aloud: as cards on a phone the rows are blocks, and browsers then forget that this is a table.
export function Table<T>(props: Props<T>) {
  const [most, setMost] = useState(STEP);
  const body = useRef<HTMLTableSectionElement>(null);
  const first = useRef<number | null>(null);
  // Where the button that was pressed is gone, the focus goes to the first of the rows that came.
  useLayoutEffect(() => {
    const row = first.current === null ? undefined : body.current?.rows[first.current];
    first.current = null;
    if (row && most >= props.rows.length) row.focus();
  }, [most]);
  const showMore = () => {
    first.current = most;
    setMost(most + STEP);
  };
  const hidden = props.rows.length - most;
  if (props.rows.length === 0 && props.empty) return <>{props.empty}</>;
  return (
    <div class="table-box">
      <table role="table">
        <caption class={props.showCaption ? "" : "hidden"}>{props.caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {props.columns.map(({ head, kind }) => (
              <th key={head} role="columnheader" scope="col" class={kind ?? ""}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" ref={body}>
          {props.rows.slice(0, most).map((row, at) => (
            <tr key={props.rowKey(row, at)} role="row" tabIndex={at > 0 && at % STEP === 0 ? -1 : undefined}>
              {props.columns.map(({ head, cell, kind }) => (
                <td key={head} role="cell" class={kind ?? ""} data-label={head}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && (
        <div class="table-foot">
          <Button onClick={showMore}>
            Show {Math.min(hidden, STEP)} more of {props.rows.length}
          </Button>
        </div>
      )}
      {props.more && hidden <= 0 && (
        <div class="table-foot">
          <Button busy={props.busy ?? false} onClick={() => props.onMore?.()}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}
