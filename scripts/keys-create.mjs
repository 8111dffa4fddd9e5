// `npm run keys:create`: makes a key in the database of DATABASE_URL, or in that of the `npm start` which is running.
import { findRunningDatabase } from './embedded-database.mjs';
import { setup } from './setup.mjs';
import { checkAddress, connect, explainRefusal } from './support/database-connection.mjs';
import { locateDataDirectory } from './support/data-directory.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { compareWithDatabase } from './support/migration-files.mjs';
import { createProgress } from './support/progress.mjs';
import { importBuilt } from './support/repository.mjs';
import { ScriptError } from './support/run-command.mjs';

function useRunningDatabase({ directory, databaseDirectory }) {
  const databaseUrl = findRunningDatabase(databaseDirectory);
  if (databaseUrl !== undefined) return databaseUrl;
  throw new ScriptError(
    `DATABASE_URL is not set, and no npm start is running on ${directory}. Set the one, or start the other first.`,
  );
}

async function checkDatabase(databaseUrl) {
  checkAddress(databaseUrl, 'DATABASE_URL');
  const client = await connect(databaseUrl).catch((error) => {
    throw explainRefusal(databaseUrl, 'DATABASE_URL', error);
  });
  try {
    const { pending } = await compareWithDatabase(client);
    if (pending.length > 0)
      throw new ScriptError('The database is not up to date. Run this first: npm run db:migrate');
  } finally {
    await client.end();
  }
}

async function run() {
  const { signal } = catchInterruptions();
  // The key is the standard output; how the setup goes is not.
  await setup({ progress: createProgress(process.stderr), signal });
  const keyArguments = process.argv.slice(2);
  const place = locateDataDirectory();
  if (!keyArguments.includes('--help')) {
    process.env.DATABASE_URL = process.env.DATABASE_URL?.trim() || useRunningDatabase(place);
    process.env.ENCRYPTION_KEYS ||= readFileIfPresent(place.encryptionKeyFile)?.trim() ?? '';
    await checkDatabase(process.env.DATABASE_URL);
  }
  const keysCreate = await importBuilt('command-line/keys-create.js');
  try {
    await keysCreate.run(keyArguments);
  } catch (error) {
    throw new ScriptError(error.message);
  }
}

process.exit(await run().then(() => 0, reportFailure));
