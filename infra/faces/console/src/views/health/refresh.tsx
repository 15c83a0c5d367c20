import { useState } from "preact/hooks";
import { Button } from "../../kit";
import { useRepeat } from "../../repeat";

const EVERY_MS = 30_000;

/** Reads again every 30 seconds while the page is in sight, until that is switched off. */
export function Refresh(props: { of: { reload: () => void; busy: boolean } }) {
  const [on, setOn] = useState(true);
  useRepeat(props.of.reload, EVERY_MS, on);
  return (
    <>
      <Button pressed={on} onClick={() => setOn(!on)}>
        Auto-refresh
      </Button>
      <Button onClick={props.of.reload} busy={props.of.busy}>
        Refresh
      </Button>
    </>
  );
}
