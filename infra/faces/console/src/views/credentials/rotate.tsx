import { useRef, useState } from "preact/hooks";
import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Notice, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { Intent } from "../../intent";
import { useAction } from "../../load";
import { readOne, rotate, type Issued, type Read } from "./calls";
import { TokenOnce } from "./token_once";

interface Props {
  of: Read;
  onRead: (read: Read) => void;
  onClose: () => void;
}

/** A new token in the place of the old one, at once. */
export function Rotate(props: Props) {
  const [made, setMade] = useState<Issued | null>(null);
  const { name } = props.of.credential;
  return (
    <Dialog title={made ? `New token of ${isolated(name)}` : `Rotate ${isolated(name)}`} onClose={props.onClose}>
      {made ? <TokenOnce of={made} onDone={props.onClose} /> : <RotateForm {...props} onMade={setMade} />}
    </Dialog>
  );
}

function RotateForm({ of, onRead, onMade, onClose }: Props & { onMade: (made: Issued) => void }) {
  const intent = useRef(new Intent());
  const rotating = useAction(async () => {
    const made = await rotate(of, intent.current);
    onRead({ credential: made.credential, etag: made.etag });
    announce("The token is rotated.");
    onMade(made);
  });
  const rereading = useAction(async () => {
    onRead(await readOne(of.credential.id));
    rotating.clear();
  });
  return (
    <Form onSubmit={() => void rotating.run()} problem={rotating.problem} onReload={() => void rereading.run()}>
      <Notice tone="warn">
        <p>
          The present token stops working at once: there is no window in which both do. Whoever uses it has to be given
          the new one.
        </p>
      </Notice>
      <p>To change over without a gap, issue a second credential, and revoke this one when nobody uses it any more.</p>
      <FormFoot>
        <Cancel onClick={onClose} />
        <Button type="submit" kind="danger" busy={rotating.busy}>
          Rotate now
        </Button>
      </FormFoot>
    </Form>
  );
}
