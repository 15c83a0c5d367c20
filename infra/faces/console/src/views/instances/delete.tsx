import { useState } from "preact/hooks";
import { announce } from "../../announce";
import { CheckField, Confirm } from "../../kit";
import { isolated } from "../../naming";
import { ApiProblem } from "../../problem";
import { go, href } from "../../router";
import { counted } from "../../words";
import { drop, type Read } from "./calls";

/** What is bound is named before it goes along; where the gateway knows of more, that is shown and nothing has gone. */
export function Delete(props: { of: Read; onReload: () => void; onClose: () => void }) {
  const { instance } = props.of;
  const [bound, setBound] = useState(instance.bindings);
  const [along, setAlong] = useState(false);
  const deleting = async () => {
    try {
      await drop(props.of, along ? bound : []);
    } catch (thrown) {
      const others = thrown instanceof ApiProblem && thrown.code === "instance_in_use" ? thrown.more.bindings : null;
      if (Array.isArray(others)) {
        setBound(others.map(String));
        setAlong(false);
      }
      throw thrown;
    }
    announce(`${isolated(instance.name)} is deleted.`);
    go(href("instances"));
  };
  return (
    <Confirm
      title={`Delete ${isolated(instance.name)}`}
      typed={instance.name}
      action="Delete"
      danger
      onConfirm={deleting}
      onClose={props.onClose}
    >
      <p>Its credential goes with it. Nothing is changed on the server. This cannot be undone.</p>
      {bound.length > 0 && (
        <div class="stack tight">
          <p>{counted(bound.length, "knowledge base is", "knowledge bases are")} bound to it:</p>
          <ul class="bound-list">
            {bound.map((id) => (
              <li key={id}>
                <a href={href("providers", id)} onClick={props.onClose}>
                  <code>{id}</code>
                </a>
              </li>
            ))}
          </ul>
          <CheckField
            label={`Delete ${bound.length === 1 ? "this provider" : `these ${bound.length} providers`} with it`}
            checked={along}
            onValue={setAlong}
            hint="All of it goes, or nothing. Without this the gateway refuses."
          />
        </div>
      )}
    </Confirm>
  );
}
