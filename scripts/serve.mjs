// The container's entry point: checks the environment, waits for the database, migrates it, serves.
import { prepareDatabase } from './migrate.mjs';
import { keepEncryptionKeys } from './support/data-directory.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { openLog } from './support/log.mjs';
import { readSecretFiles } from './support/secret-files.mjs';
import { checkEnvironment, checkPort, isWorker, startService } from './support/service.mjs';

async function run() {
  const log = await openLog(process.env);
  if (isWorker) return startService();
  readSecretFiles(process.env);
  const interruption = catchInterruptions();
  const { signal } = interruption;
  // Only with DATA_DIR: the container's own file system is read-only and ephemeral.
  if (!process.env.ENCRYPTION_KEYS?.trim() && process.env.DATA_DIR?.trim()) keepEncryptionKeys(log);
  const { host, port } = await checkEnvironment(process.env);
  await checkPort({ host, port });
  await prepareDatabase({ environment: process.env, log, signal });
  await interruption.orInterrupted(startService());
  interruption.release();
}

await run().catch((error) => process.exit(reportFailure(error)));
