// The time of spend leases.
import type { TestApp } from '../app/app.js';

/** As if its processes had not been seen for longer than calls may hold the owner's leases. */
export async function passHeldTime({ sql }: Pick<TestApp, 'sql'>, ownerId: string): Promise<void> {
  await sql(
    "UPDATE spend_leases SET expires_at = now() - interval '1 second', held_until = '-infinity' WHERE holder_id = $1",
    [ownerId],
  );
}
