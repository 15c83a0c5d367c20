import { useEffect, useRef } from "preact/hooks";

/**
 * Calls `again` every `everyMs` while the page is in sight, and at once when it comes back into sight after longer than
 * that. It counts as no use of the console: who has gone away is signed out all the same.
 */
export function useRepeat(again: () => void, everyMs: number, on: boolean): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (!on) return;
    let last = Date.now();
    const look = () => {
      if (document.hidden || Date.now() - last < everyMs) return;
      last = Date.now();
      latest.current();
    };
    const timer = setInterval(look, Math.min(everyMs, 5000));
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [everyMs, on]);
}
