// Keys with a limit, and the amounts that are spent and reserved.
import type { Lab } from '../replicas/lab.js';

export async function createLimitedKey(lab: Lab, limit: number): Promise<string> {
  const { key } = (await lab.manage('POST', '/keys', { name: 'Limited', limit })) as { readonly key: string };
  return key;
}

/** USD, of the key that has spent most. */
export async function spentOf(lab: Lab): Promise<number> {
  const [row] = await lab.sql<{ total: string }>('SELECT max(total) AS total FROM key_spend');
  return Number(row?.total ?? 0);
}

/** USD, of all keys. */
export async function reservedBy(lab: Lab): Promise<number> {
  const [row] = await lab.sql<{ reserved: string }>('SELECT sum(reserved) AS reserved FROM key_spend');
  return Number(row?.reserved ?? 0);
}
