import { useState } from "preact/hooks";
import type { AllowanceShown, KeyShown, PoolShown } from "../../api";
import { Button, Loaded, Notice, Page, Section } from "../../kit";
import { useLoad } from "../../load";
import { useRepeat } from "../../repeat";
import { KINDS } from "../../words";
import { Allowance } from "./allowance";
import { ChangeAllowance } from "./allowance_form";
import { readAll, type Both } from "./calls";
import { Keys } from "./keys";
import { Rest } from "./rest";
import { Wake } from "./wake";

type Open =
  | { what: "rest"; pool: PoolShown; key: KeyShown }
  | { what: "wake"; pool: PoolShown; key: KeyShown | null }
  | { what: "allowance"; allowance: AllowanceShown };

/** Keys of the hosted services, which rest, and how many operations a day each service may be asked for. */
export function PoolsView() {
  const pools = useLoad(readAll, []);
  const [open, setOpen] = useState<Open | null>(null);
  useRepeat(pools.reload, 60_000, open === null);
  const put = (change: (one: Both) => Both) => pools.data && pools.put(pools.data.map(change));
  const onPool = (pool: PoolShown) => put((one) => (one.pool.pool === pool.pool ? { ...one, pool } : one));
  const onAllowance = (allowance: AllowanceShown) =>
    put((one) => (one.pool.pool === allowance.pool ? { ...one, allowance } : one));
  const close = () => setOpen(null);
  return (
    <Page
      title="Pools"
      lead="Keys and allowances of the live services."
      actions={
        <Button onClick={pools.reload} busy={pools.busy && pools.data !== null}>
          Refresh
        </Button>
      }
    >
      <Explained />
      <Loaded from={pools} lines={8}>
        {(all) => (
          <>
            {all.map((one) => (
              <OnePool key={one.pool.pool} of={one} onOpen={setOpen} />
            ))}
          </>
        )}
      </Loaded>
      {open?.what === "rest" && <Rest pool={open.pool} of={open.key} onChanged={onPool} onClose={close} />}
      {open?.what === "wake" && <Wake pool={open.pool} of={open.key} onChanged={onPool} onClose={close} />}
      {open?.what === "allowance" && <ChangeAllowance of={open.allowance} onChanged={onAllowance} onClose={close} />}
    </Page>
  );
}

function OnePool({ of: { pool, allowance }, onOpen }: { of: Both; onOpen: (open: Open) => void }) {
  const name = KINDS[pool.pool];
  const wake = pool.takesKeys ? "Wake all keys" : "Wake it";
  const asleep = pool.resting > 0 || pool.readyAgainAt !== null;
  return (
    <Section
      title={name}
      actions={
        <>
          {asleep && (
            <Button small label={`${wake}: ${name}`} onClick={() => onOpen({ what: "wake", pool, key: null })}>
              {wake}
            </Button>
          )}
          {allowance && (
            <Button small label={`Allowance of ${name}`} onClick={() => onOpen({ what: "allowance", allowance })}>
              Allowance
            </Button>
          )}
        </>
      }
    >
      {allowance && <Allowance of={allowance} />}
      <Keys
        of={pool}
        onRest={(key) => onOpen({ what: "rest", pool, key })}
        onWake={(key) => onOpen({ what: "wake", pool, key })}
      />
    </Section>
  );
}

function Explained() {
  return (
    <Notice title="An allowance counts operations, not money">
      <p>
        It is how often this gateway may ask a service in any 24 hours, so that nothing runs away. What the service
        itself counts, and what it bills for it, only its own account says.
      </p>
    </Notice>
  );
}
