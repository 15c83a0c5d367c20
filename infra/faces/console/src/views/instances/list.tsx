import { useState } from "preact/hooks";
import type { InstanceShown } from "../../api";
import { Badge, Button, Empty, Exposure, Loaded, Page, RiskBadges, Table, type Column } from "../../kit";
import { useLoad } from "../../load";
import { named } from "../../naming";
import { href } from "../../router";
import { counted } from "../../words";
import { readAll } from "./calls";
import { Create } from "./create";
import { PRODUCTS } from "./products";

const COLUMNS: Column<InstanceShown>[] = [
  {
    head: "Instance",
    kind: "main",
    cell: (one) => (
      <>
        <a href={href("instances", one.id)}>{named(one)}</a>
        <div class="row tags">
          <Exposure of={one.exposureProfile} />
          <span class="muted small-text">{PRODUCTS[one.kind].name}</span>
        </div>
      </>
    ),
  },
  { head: "Address", kind: "wide", cell: (one) => <Address of={one} /> },
  {
    head: "Credential",
    cell: (one) =>
      one.credentialFingerprint ? <code>{one.credentialFingerprint}</code> : <Badge tone="warn">None</Badge>,
  },
  {
    head: "Bound",
    cell: (one) =>
      one.bindings.length > 0 ? counted(one.bindings.length, "knowledge base") : <span class="muted">nothing</span>,
  },
];

export function List() {
  const [creating, setCreating] = useState(false);
  const instances = useLoad(readAll, []);
  const open = () => setCreating(true);
  return (
    <Page
      title="Instances"
      lead="Servers of Dify, FastGPT and RAGFlow that you run. Knowledge bases on them are bound as providers."
      actions={
        <Button kind="primary" onClick={open}>
          Register a server
        </Button>
      }
    >
      <Loaded from={instances}>
        {(rows) => (
          <Table
            caption="Instances"
            columns={COLUMNS}
            rows={rows}
            rowKey={(one) => one.id}
            empty={
              <div class="card">
                <Empty title="No server is registered">
                  <p>Register one, look at what is on it, and bind knowledge bases that searches may ask.</p>
                  <Button onClick={open}>Register a server</Button>
                </Empty>
              </div>
            }
          />
        )}
      </Loaded>
      {creating && <Create onClose={() => setCreating(false)} />}
    </Page>
  );
}

function Address({ of }: { of: InstanceShown }) {
  return (
    <>
      <code>{of.baseUrl}</code>
      {of.acknowledged.length > 0 && (
        <div class="row tags">
          <RiskBadges risks={of.acknowledged} />
        </div>
      )}
    </>
  );
}
