// Compares the result of the migrations with prisma/schema.prisma, in a temporary database.
import { readFileSync } from 'node:fs';
import { migrate } from './migrate.mjs';
import { setup } from './setup.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';
import { inRepository, repositoryRoot } from './support/repository.mjs';
import { noFilters, openSchemaEngine } from './support/schema-engine.mjs';
import { openScratchServer } from './support/scratch-server.mjs';

// The engine compares tables, columns, keys and indexes. It skips features that the schema cannot express: check
// constraints, partitions, triggers, functions, and whether a foreign key is deferrable.
async function compare(databaseUrl) {
  const path = inRepository('prisma/schema.prisma');
  const files = [{ path, content: readFileSync(path, 'utf8') }];
  const schemaEngine = await openSchemaEngine(databaseUrl);
  try {
    const diff = (isScript) =>
      schemaEngine.engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: repositoryRoot },
        to: { tag: 'schemaDatamodel', files },
        script: isScript,
        exitCode: true,
        filters: noFilters,
      });
    const summary = await diff(false);
    return summary.exitCode === 0
      ? undefined
      : { summary: summary.stdout, script: (await diff(true)).stdout };
  } finally {
    await schemaEngine.close();
  }
}

async function run() {
  const { signal } = catchInterruptions();
  const progress = createProgress();
  await setup({ progress, signal });
  const server = await openScratchServer({ progress, signal });
  try {
    const { url } = await server.createDatabase('check');
    await migrate({ databaseUrl: url, log: () => undefined, signal });
    const difference = await compare(url);
    if (difference === undefined) {
      console.log('The migrations result in exactly prisma/schema.prisma.');
      return 0;
    }
    console.log('The migrations do not result in prisma/schema.prisma. From the migrations to the schema:');
    console.log(difference.summary);
    console.log(`As SQL, for a new migration:\n\n${difference.script}`);
    return 1;
  } finally {
    await server.close();
  }
}

process.exit(await run().catch(reportFailure));
