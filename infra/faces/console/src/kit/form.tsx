import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import type { ApiProblem } from "../problem";
import { ProblemBox } from "./problem";

const Refusal = createContext<ApiProblem | null>(null);

interface Props {
  onSubmit: () => void;
  problem: ApiProblem | null;
  children: ComponentChildren;
  /** Offered beside a 412 and a 428. */
  onReload?: (() => void) | undefined;
  label?: string;
}

/** Shows a refusal above its fields, each violation beside its field, and moves the focus to the first one. */
export function Form(props: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (props.problem === null) return;
    const first = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    (first ?? form.current?.querySelector<HTMLElement>(".form-problem"))?.focus();
  }, [props.problem]);
  const stale = props.problem?.status === 412 || props.problem?.status === 428;
  return (
    <form
      ref={form}
      class="form"
      noValidate
      aria-label={props.label}
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      {props.problem && (
        <div class="form-problem" tabIndex={-1}>
          <ProblemBox of={props.problem} onRetry={stale ? props.onReload : undefined} retryLabel="Read it again" />
        </div>
      )}
      <Refusal.Provider value={props.problem}>{props.children}</Refusal.Provider>
    </form>
  );
}

/** What the gateway said of the field at this JSON pointer, or of something inside it; `exactly`: of itself alone. */
export function useViolation(pointer: string | undefined, exactly = false): string | null {
  const problem = useContext(Refusal);
  if (!problem || pointer === undefined) return null;
  const own = problem.violations.filter(
    (one) => one.pointer === pointer || (!exactly && one.pointer.startsWith(`${pointer}/`)),
  );
  return own.length > 0 ? own.map((one) => one.detail).join(" ") : null;
}

export function FormFoot(props: { children: ComponentChildren }) {
  return <div class="form-foot">{props.children}</div>;
}
