import type { InstanceShown } from "../../api";
import { Badge, Empty, Loaded, Table, type Column } from "../../kit";
import { useLoad, type Loading } from "../../load";
import { ApiProblem } from "../../problem";
import { href } from "../../router";
import { StatusBadge } from "../providers/badges";
import { readOne } from "../providers/calls";
import { isBoundProvider, type BoundProvider } from "./drafts";

/** `provider` is null where this version of the gateway cannot read the registration. */
export interface Bound {
  id: string;
  provider: BoundProvider | null;
}

export function useBindings(of: InstanceShown): Loading<Bound[]> {
  return useLoad((signal) => Promise.all(of.bindings.map((id) => readBound(id, signal))), [of.bindings.join()]);
}

async function readBound(id: string, signal: AbortSignal): Promise<Bound> {
  try {
    const { provider } = await readOne(id, signal);
    return { id, provider: isBoundProvider(provider) ? provider : null };
  } catch (thrown) {
    if (thrown instanceof ApiProblem && thrown.status === 404) return { id, provider: null };
    throw thrown;
  }
}

export function Bindings({ of, from }: { of: InstanceShown; from: Loading<Bound[]> }) {
  const columns: Column<Bound>[] = [
    {
      head: "Provider",
      kind: "main",
      cell: ({ id, provider }) =>
        provider ? <a href={href("instances", of.id, "edit", id)}>{provider.name}</a> : <code>{id}</code>,
    },
    {
      head: "State",
      cell: ({ provider }) =>
        provider ? (
          <span class="row">
            <StatusBadge of={provider} />
          </span>
        ) : (
          <Badge tone="bad">Cannot be read</Badge>
        ),
    },
    {
      head: "Knowledge base",
      kind: "wide",
      cell: ({ provider }) =>
        provider && (
          <>
            {provider.remoteName}{" "}
            <div class="muted small-text">
              <code>{provider.remoteId}</code>
            </div>
          </>
        ),
    },
    { head: "Priority", kind: "num", cell: ({ provider }) => provider?.priority },
  ];
  return (
    <Loaded from={from}>
      {(rows) => (
        <Table
          caption="What is bound to this instance"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          empty={
            <div class="card">
              <Empty title="Nothing is bound">
                <p>Choose a knowledge base under “What is on it”.</p>
              </Empty>
            </div>
          }
        />
      )}
    </Loaded>
  );
}
