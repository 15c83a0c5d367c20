import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { modals, unsayAll } from "../announce";
import { useAction } from "../load";
import { Status } from "../shell/status";
import { Button } from "./button";
import { TextField } from "./field";
import { Form, FormFoot } from "./form";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
  /** While true, Escape and the cross do nothing: what is shown would be lost, or is under way. */
  held?: boolean;
}

/** Modal. The focus goes to the first control (or `autoFocus`), and back to who opened it; Escape closes. */
export function Dialog(props: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = box.current;
    const opener = document.activeElement as HTMLElement | null;
    dialog?.showModal();
    unsayAll();
    modals.set(modals.get() + 1);
    const wanted =
      dialog?.querySelector<HTMLElement>("[data-autofocus]") ??
      dialog?.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea, button, a[href]):not(:disabled)");
    wanted?.focus();
    return () => {
      modals.set(modals.get() - 1);
      dialog?.close();
      const back = opener?.isConnected ? opener : document.querySelector<HTMLElement>("main h1");
      back?.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      class={props.wide ? "wide" : ""}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        if (!props.held) props.onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!props.held) props.onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
        {!props.held && (
          <Button kind="quiet" small label="Close" onClick={props.onClose}>
            <span aria-hidden="true">✕</span>
          </Button>
        )}
      </div>
      <Status />
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  /** Has to be typed before the button works: for what cannot be undone. */
  typed?: string;
  action: string;
  danger?: boolean;
  /** Throws an ApiProblem where it fails; the dialog stays open and shows it. */
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

export function Confirm(props: ConfirmProps) {
  const [text, setText] = useState("");
  const doing = useAction(props.onConfirm);
  const ready = props.typed === undefined || text.trim() === props.typed.trim();
  return (
    <Dialog title={props.title} onClose={props.onClose} held={doing.busy}>
      <Form
        onSubmit={() => {
          if (ready) void doing.run();
        }}
        problem={doing.problem}
      >
        {props.children}
        {props.typed !== undefined && (
          <TextField label={`Type “${props.typed}” to confirm`} value={text} onValue={setText} autoFocus mono />
        )}
        <FormFoot>
          <Button onClick={props.onClose} disabled={doing.busy}>
            Cancel
          </Button>
          <Button type="submit" kind={props.danger ? "danger" : "primary"} disabled={!ready} busy={doing.busy}>
            {props.action}
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
