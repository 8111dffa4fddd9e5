// `npm start`: sets everything up, starts a database unless DATABASE_URL names one, serves, and prints examples.
import { createHash } from 'node:crypto';
import { startEmbeddedDatabase } from './embedded-database.mjs';
import { prepareDatabase } from './migrate.mjs';
import { setup } from './setup.mjs';
import { claimDataDirectory, keepEncryptionKeys, locateDataDirectory } from './support/data-directory.mjs';
import { readEncryptionKeys, readQuickstart, writeQuickstart } from './support/data-directory.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { tryLock } from './support/lock-file.mjs';
import { openLog } from './support/log.mjs';
import { sleep } from './support/processes.mjs';
import { createProgress } from './support/progress.mjs';
import { importBuilt } from './support/repository.mjs';
import { ScriptError } from './support/run-command.mjs';
import { readSecretFiles } from './support/secret-files.mjs';
import { checkEnvironment, checkPort, isWorker, startService, toBaseUrl } from './support/service.mjs';

const EARLIER_START_TIMEOUT_MS = 3000;
const progress = createProgress();
/** Writes the product's output, which is plain text in any case. Lines of the log have `log`. */
const print = (text) => progress.line(text);

/** Placeholders for values that are created later, so that everything else is checked before any step. */
function withPlaceholders(environment) {
  return {
    ...environment,
    DATABASE_URL: environment.DATABASE_URL?.trim() || 'postgresql://signalbox@127.0.0.1/signalbox',
    ENCRYPTION_KEYS: environment.ENCRYPTION_KEYS?.trim() || Buffer.alloc(32).toString('base64'),
  };
}

/** The address of the console as a line; nothing when it is switched off. */
function consoleLine(baseUrl) {
  if (process.env.CONSOLE?.trim() === 'off') return '';
  const path = (process.env.PUBLIC_PATH?.trim() ?? '').replace(/\/?$/, '/');
  return `Console:        ${baseUrl.replace(/\/api\/v1$/, path)}\n`;
}

function printExamples(baseUrl, { managementKey, apiKey }) {
  const hash = createHash('sha256').update(apiKey).digest('hex');
  const destination = { type: 'webhook', name: 'My webhook', config: { url: 'https://example.com/traces' } };
  const post = (path, key, body, options = '-sS') =>
    `curl ${options} ${baseUrl}${path} -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' ` +
    `-d '${JSON.stringify(body)}'`;
  print(`
signalbox is ready.

${consoleLine(baseUrl)}Base URL:       ${baseUrl}
Management key: ${managementKey}
API key:        ${apiKey}

The management key signs in to the console and changes everything; it makes no call. The API key makes calls, and signs in to its
own page.

Embed two texts:
${post('/embeddings', apiKey, { model: 'local/hashing', input: ['The quick brown fox', 'jumps over the lazy dog'], dimensions: 8 })}

Stream an answer of a model that repeats the prompt:
${post('/chat/completions', apiKey, { model: 'local/echo', messages: [{ role: 'user', content: 'The quick brown fox' }], stream: true }, '-sSN')}

Send traces to a webhook:
${post('/observability/destinations', managementKey, destination)}

Make a key that may spend 5 USD a month:
${post('/keys', managementKey, { name: 'Search team', limit: 5, limit_reset: 'monthly' })}

Look at the API key:
curl -sS ${baseUrl}/keys/${hash} -H 'Authorization: Bearer ${managementKey}'
`);
}

async function printProviders(config) {
  const { describeProviders, providerText } = await importBuilt('runtime/provider-lines.js');
  print(`${providerText(describeProviders(config, process.env))}\n`);
}

async function takeDirectory(location, cleanups, signal) {
  claimDataDirectory(location);
  const begunAt = Date.now();
  for (;;) {
    const { lock, owner } = tryLock(location.lockFile);
    if (lock) return cleanups.add(() => lock.release());
    // Two services on one directory are a mistake; one that is stopping gets a moment.
    if (Date.now() - begunAt > EARLIER_START_TIMEOUT_MS) {
      throw new ScriptError(
        `Another npm start (process ${owner}) is running on ${location.directory}. ` +
          'Stop it, or set DATA_DIR and PORT to others for this one.',
      );
    }
    await sleep(100, signal);
  }
}

async function prepareEmbeddedDatabase(location, { log, cleanups, signal }) {
  if (!process.env.ENCRYPTION_KEYS?.trim()) process.env.ENCRYPTION_KEYS = readEncryptionKeys(location);
  const onUnexpectedEnd = () => {
    log(
      `The embedded database has ended by itself; see ${location.databaseDirectory}.log, then start again.`,
      'error',
    );
  };
  const { databaseDirectory: directory } = location;
  const database = await progress.step('Starting the embedded database', () =>
    startEmbeddedDatabase({ directory, log, signal, onUnexpectedEnd }),
  );
  cleanups.add(() => database.stop());
  // node:cluster passes the environment on to the workers.
  process.env.DATABASE_URL = database.url;
}

async function run(interruption, cleanups) {
  const { signal } = interruption;
  readSecretFiles(process.env);
  await setup({ progress, signal });
  const log = await openLog(process.env);
  const isEmbedded = !process.env.DATABASE_URL?.trim();
  if (isEmbedded && process.env.DATABASE_DIRECT_URL?.trim())
    throw new ScriptError('DATABASE_DIRECT_URL is set without DATABASE_URL: set both, or none');
  const location = locateDataDirectory();
  const config = await checkEnvironment(withPlaceholders(process.env));
  const { host, port } = config;
  // The directory first: an npm start that runs on it most likely has the port as well.
  if (isEmbedded) await takeDirectory(location, cleanups, signal);
  await checkPort({ host, port });
  if (isEmbedded) await prepareEmbeddedDatabase(location, { log, cleanups, signal });
  else if (!process.env.ENCRYPTION_KEYS?.trim()) keepEncryptionKeys(log);

  const databaseUrl = process.env.DATABASE_URL.trim();
  await prepareDatabase({ environment: process.env, log, signal });
  const { ensureQuickstartKeys, countManagementKeys } = await importBuilt('runtime/quickstart.js');
  let keys;
  if (isEmbedded) {
    keys = await ensureQuickstartKeys({ databaseUrl, existing: readQuickstart(location) });
    // The account of the quickstart operates the service.
    if (!process.env.OPERATOR_ACCOUNTS?.trim()) process.env.OPERATOR_ACCOUNTS = keys.accountId;
    // Stored before any step can fail: the database holds only their hashes.
    writeQuickstart(location, toBaseUrl(`http://${host.includes(':') ? `[${host}]` : host}:${port}`), keys);
  }
  const service = await interruption.orInterrupted(startService({ onStopped: cleanups.run }));
  // From here on the service drains on the first signal, and then calls onStopped.
  interruption.release();

  const baseUrl = toBaseUrl(service.baseUrl);
  if (keys) {
    writeQuickstart(location, baseUrl, keys);
    printExamples(baseUrl, keys);
    await printProviders(config);
    return;
  }
  print(`signalbox is ready.\n\n${consoleLine(baseUrl)}Base URL:       ${baseUrl}\n`);
  await printProviders(config);
  if ((await countManagementKeys({ databaseUrl })) === 0) {
    print('There is no management key yet. Make the first one with: npm run keys:create -- --management');
  }
}

/** Clean-up steps, newest first. They run once, however often the end is announced. */
function createCleanups() {
  const cleanups = [];
  let ending;
  const runAll = async () => {
    for (const cleanup of cleanups.toReversed()) {
      try {
        await cleanup();
      } catch (error) {
        // The next step must still run.
        reportFailure(error);
      }
    }
  };
  return {
    add: (cleanup) => cleanups.push(cleanup),
    run: () => (ending ??= runAll()),
  };
}

if (isWorker) {
  await openLog(process.env)
    .then(() => startService())
    .catch((error) => process.exit(reportFailure(error)));
} else {
  const cleanups = createCleanups();
  try {
    await run(catchInterruptions(), cleanups);
  } catch (error) {
    const exitCode = reportFailure(error);
    await cleanups.run();
    process.exit(exitCode);
  }
}
