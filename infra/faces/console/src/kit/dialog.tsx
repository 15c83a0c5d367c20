import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { modals, unsayAll } from "../announce";
import { closed, hold, opened, type Held } from "../hold";
import { useAction } from "../load";
import { isolated } from "../naming";
import { Status } from "../shell/status";
import { store, useStore } from "../store";
import { Button } from "./button";
import { TextField } from "./field";
import { focusIn, placeOf } from "./focus";
import { Form, FormFoot } from "./form";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

const free = store(0);
const Around = createContext<Held>(free);

/** Keeps the dialog around it open for as long as it is drawn: what is shown would be lost. */
export function useHold(): void {
  const around = useContext(Around);
  useLayoutEffect(() => (around === free ? undefined : hold(around)), [around]);
}

/** The button beside the one that acts. */
export function Cancel({ onClick }: { onClick: () => void }) {
  const held = useStore(useContext(Around)) > 0;
  return (
    <Button onClick={onClick} disabled={held}>
      Cancel
    </Button>
  );
}

/**
 * Modal. The focus goes to the first control (or `autoFocus`), and back to who opened it, or to what stands there now.
 * Escape closes, unless an action that began in it is under way or something holds it.
 */
export function Dialog(props: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [own] = useState(opened);
  const held = useStore(own) > 0;
  const close = () => {
    if (own.get() === 0) props.onClose();
  };
  useEffect(() => () => closed(own), []);
  useEffect(() => {
    const dialog = box.current;
    const opener = document.activeElement as HTMLElement | null;
    const place = placeOf(opener);
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
      if (opener?.isConnected) opener.focus();
      else focusIn(place);
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
        close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
        {!held && (
          <Button kind="quiet" small label="Close" onClick={close}>
            <span aria-hidden="true">✕</span>
          </Button>
        )}
      </div>
      <Status />
      <div class="dialog-body">
        <Around.Provider value={own}>{props.children}</Around.Provider>
      </div>
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
  /** Reads anew what somebody else has changed: offered after a 412, which would else come again for ever. */
  onReread?: () => Promise<void>;
  onClose: () => void;
}

export function Confirm(props: ConfirmProps) {
  const [text, setText] = useState("");
  const doing = useAction(props.onConfirm);
  const rereading = useAction(async () => {
    await props.onReread?.();
    doing.clear();
  });
  const ready = props.typed === undefined || text.trim() === props.typed.trim();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        onSubmit={() => {
          if (ready) void doing.run();
        }}
        problem={rereading.problem ?? doing.problem}
        onReload={props.onReread && (() => void rereading.run())}
      >
        {props.children}
        {props.typed !== undefined && (
          <TextField
            label={`Type “${isolated(props.typed)}” to confirm`}
            value={text}
            onValue={setText}
            autoFocus
            mono
          />
        )}
        <FormFoot>
          <Cancel onClick={props.onClose} />
          <Button type="submit" kind={props.danger ? "danger" : "primary"} disabled={!ready} busy={doing.busy}>
            {props.action}
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
