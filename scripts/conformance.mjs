// `npm run conformance`: sets everything up, starts a database and another gateway, and compares both gateways on
// stubs of all providers. Fails when this service does anything wrong. `-- --only chat` or `embeddings`: one operation.
import { parseArgs } from 'node:util';
import { migrate } from './migrate.mjs';
import { setup } from './setup.mjs';
import { installPortkey } from './support/install-portkey.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';
import { openScratchServer } from './support/scratch-server.mjs';
import { importTypeScript } from './support/typescript.mjs';

async function run() {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  const portkey = await installPortkey({ progress, signal });
  const { runConformance } = await importTypeScript('conformance/main.ts');
  const server = await openScratchServer({ progress, signal });
  try {
    const { url: databaseUrl } = await server.createDatabase('conformance');
    await migrate({ databaseUrl, log: () => undefined, signal });
    return (await runConformance({ databaseUrl, portkey, only, progress, signal })) ? 0 : 1;
  } finally {
    await server.close();
  }
}

process.exit(await run().catch(reportFailure));
