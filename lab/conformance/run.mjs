// Compares this service and another gateway on stubs of all providers. Fails when this service does anything wrong.
//
//   npm run lab -- conformance --only wires
import { parseArgs } from 'node:util';
import { migrate } from '../../scripts/migrate.mjs';
import { openScratchServer } from '../../scripts/support/scratch-server.mjs';
import { writePage } from '../support/report.ts';
import { runConformance } from './main.ts';
import { renderConformance } from './page.ts';
import { installPortkey } from './portkey/install.mjs';
import { count } from './table.ts';

export async function run(args, { progress, signal }) {
  const options = { only: { type: 'string' }, report: { type: 'string' } };
  const { only, report } = parseArgs({ args, options }).values;
  const portkey = await installPortkey({ progress, signal });
  const server = await openScratchServer({ progress, signal });
  try {
    const { url: databaseUrl } = await server.createDatabase('conformance');
    await migrate({ databaseUrl, log: () => undefined, signal });
    const comparisons = await runConformance({ databaseUrl, portkey, only, progress, signal });
    const command = ['conformance', ...(only === undefined ? [] : ['--only', only])].join(' ');
    if (report !== undefined) await writePage(report, renderConformance(comparisons, command));
    const isRight = comparisons.every(({ results }) => {
      const [own] = results.values();
      return own !== undefined && count(own, 'wrong') === 0;
    });
    return isRight ? 0 : 1;
  } finally {
    await server.close();
  }
}
