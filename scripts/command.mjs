// Runs a command of src/cli with DATABASE_URL, or with the database of a running `npm start`: `node
// scripts/command.mjs keys-create --management`.
import { findRunningDatabase } from './embedded-database.mjs';
import { setup } from './setup.mjs';
import { checkAddress, connect, explainRejection, requireFitness } from './support/database-connection.mjs';
import { locateDataDirectory } from './support/data-directory.mjs';
import { readFileIfPresent } from './support/files.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { requireSessions } from './support/database-sessions.mjs';
import { compareWithDatabase } from './support/migration-files.mjs';
import { createProgress } from './support/progress.mjs';
import { importBuilt } from './support/repository.mjs';
import { ScriptError } from './support/run-command.mjs';
import { readSecretFiles } from './support/secret-files.mjs';

const COMMANDS = ['encryption-rotate', 'keys-create', 'keys-list', 'spend-rebuild'];

function useRunningDatabase({ directory, databaseDirectory }) {
  const databaseUrl = findRunningDatabase(databaseDirectory);
  if (databaseUrl !== undefined) return databaseUrl;
  throw new ScriptError(
    `DATABASE_URL is not set, and no npm start is running on ${directory}. Set the one, or start the other first.`,
  );
}

async function checkDatabase(databaseUrl) {
  await checkAddress(databaseUrl, 'DATABASE_URL');
  const client = await connect(databaseUrl).catch(async (error) => {
    throw await explainRejection(databaseUrl, 'DATABASE_URL', error);
  });
  try {
    await requireFitness(databaseUrl, client);
    const { pending } = await compareWithDatabase(client);
    if (pending.length > 0)
      throw new ScriptError('The database is not up to date. Run this first: npm run db:migrate');
  } finally {
    await client.end();
  }
}

async function run() {
  const [name, ...commandArguments] = process.argv.slice(2);
  if (!COMMANDS.includes(name)) throw new ScriptError(`Name one of these commands: ${COMMANDS.join(', ')}`);
  readSecretFiles(process.env);
  const { signal } = catchInterruptions();
  // The standard output is the command's; the progress of the setup goes to the standard error.
  await setup({ progress: createProgress(process.stderr), signal });
  const location = locateDataDirectory();
  if (!commandArguments.includes('--help')) {
    process.env.DATABASE_URL = process.env.DATABASE_URL?.trim() || useRunningDatabase(location);
    process.env.ENCRYPTION_KEYS ||= readFileIfPresent(location.encryptionKeyFile)?.trim() ?? '';
    await checkDatabase(process.env.DATABASE_URL);
    await requireSessions(process.env);
  }
  const command = await importBuilt(`cli/${name}.js`);
  try {
    await command.run(commandArguments);
  } catch (error) {
    throw new ScriptError(error.message);
  }
}

process.exit(await run().then(() => 0, reportFailure));
