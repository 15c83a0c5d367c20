import { announce } from "../../announce";
import { Button, Dialog, Form, FormFoot, Cancel } from "../../kit";
import { isolated } from "../../naming";
import { useAction } from "../../load";
import { change, readOne, type Read } from "./calls";
import { ROOT } from "./classes";

interface Props {
  of: Read;
  onRead: (read: Read) => void;
  onClose: () => void;
}

/** Off and on again: the token stays the same. */
export function Switch({ of, onRead, onClose }: Props) {
  const { credential } = of;
  const off = credential.status === "active";
  const switching = useAction(async () => {
    onRead(await change(of, { status: off ? "disabled" : "active" }));
    announce(`${isolated(credential.name)} is switched ${off ? "off" : "on"}.`);
    onClose();
  });
  const rereading = useAction(async () => {
    onRead(await readOne(credential.id));
    switching.clear();
  });
  return (
    <Dialog title={`Switch ${isolated(credential.name)} ${off ? "off" : "on"}`} onClose={onClose}>
      <Form onSubmit={() => void switching.run()} problem={switching.problem} onReload={() => void rereading.run()}>
        <p>
          {off
            ? "Its token is refused from now on, until it is switched on again."
            : "Its token works again from now on."}
        </p>
        {off && credential.id === ROOT && (
          <p>
            This needs another admin credential that is active and never ends. If you are signed in as root, you are
            signed out with the next thing that you do.
          </p>
        )}
        {off && credential.class === "adm" && credential.id !== ROOT && (
          <p>If you are signed in with it, you are signed out with the next thing that you do.</p>
        )}
        <FormFoot>
          <Cancel onClick={onClose} />
          <Button type="submit" kind={off ? "danger" : "primary"} busy={switching.busy}>
            Switch {off ? "off" : "on"}
          </Button>
        </FormFoot>
      </Form>
    </Dialog>
  );
}
