// Compares this service and another gateway on stubs of all providers. Fails when this service does anything wrong.
//
//   npm run lab -- conformance --only chat
import { parseArgs } from 'node:util';
import { migrate } from '../../scripts/migrate.mjs';
import { openScratchServer } from '../../scripts/support/scratch-server.mjs';
import { runConformance } from './main.ts';
import { installPortkey } from './portkey/install.mjs';

export async function run(args, { progress, signal }) {
  const { only } = parseArgs({ args, options: { only: { type: 'string' } } }).values;
  const portkey = await installPortkey({ progress, signal });
  const server = await openScratchServer({ progress, signal });
  try {
    const { url: databaseUrl } = await server.createDatabase('conformance');
    await migrate({ databaseUrl, log: () => undefined, signal });
    return (await runConformance({ databaseUrl, portkey, only, progress, signal })) ? 0 : 1;
  } finally {
    await server.close();
  }
}
