import type { ComponentChildren } from "preact";
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

// The roles are said aloud: as cards on a phone the rows are blocks, and browsers then forget that this is a table.
export function Table<T>(props: Props<T>) {
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
        <tbody role="rowgroup">
          {props.rows.map((row, at) => (
            <tr key={props.rowKey(row, at)} role="row">
              {props.columns.map(({ head, cell, kind }) => (
                <td key={head} role="cell" class={kind ?? ""} data-label={head}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {props.more && (
        <div class="table-foot">
          <Button busy={props.busy ?? false} onClick={() => props.onMore?.()}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
}
