// What this view asks the gateway for.
import type { AllowancePut, AllowanceShown, AllowancesShown, Pool, PoolShown, PoolsShown } from "../../api";
import { get, pathOf, post, put } from "../../call";

export interface Both {
  pool: PoolShown;
  allowance: AllowanceShown | null;
}

export async function readAll(signal: AbortSignal): Promise<Both[]> {
  const [pools, allowances] = await Promise.all([
    get<PoolsShown>("knowledge/pools", { signal }),
    get<AllowancesShown>("knowledge/allowances", { signal }),
  ]);
  return pools.data.pools.map((pool) => ({
    pool,
    allowance: allowances.data.allowances.find((one) => one.pool === pool.pool) ?? null,
  }));
}

export async function readAllowance(pool: Pool): Promise<AllowanceShown> {
  return (await get<AllowanceShown>(pathOf("knowledge/allowances", pool))).data;
}

export async function rest(pool: Pool, key: string, seconds: number): Promise<PoolShown> {
  return (await post<PoolShown>(pathOf("knowledge/pools", pool, "rest"), { key, seconds })).data;
}

/** `key` null: all keys of the pool, or the service itself where it takes none. */
export async function wake(pool: Pool, key: string | null): Promise<PoolShown> {
  return (await post<PoolShown>(pathOf("knowledge/pools", pool, "wake"), { key })).data;
}

/** Its tag is the number of changes by operators, so it need not be read once more. */
export async function changeAllowance(was: AllowanceShown, body: AllowancePut): Promise<AllowanceShown> {
  const ifMatch = `"${was.generation}"`;
  return (await put<AllowanceShown>(pathOf("knowledge/allowances", was.pool), body, { ifMatch })).data;
}
