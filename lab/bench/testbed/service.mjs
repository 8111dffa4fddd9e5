// This service as an operator runs it: the build, on a database of its own, with all features on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'undici';
import { migrate } from '../../../scripts/migrate.mjs';
import { createDatabase } from '../../../scripts/support/database-connection.mjs';
import { inRepository, repositoryRoot } from '../../../scripts/support/repository.mjs';
import { runCommand } from '../../../scripts/support/run-command.mjs';
import { callOperation } from '../../support/operation.ts';
import { SERVICE_PROGRAM, startChild } from '../../../test/support/processes/child.ts';

const NO_LIMIT = '1000000000';
// A machine with other work takes longer than a minute.
const START_TIMEOUT_MS = 120_000;
// The options that the container passes to Node.
const [, command] = /^CMD (.*)$/m.exec(readFileSync(inRepository('Dockerfile'), 'utf8'));
const NODE_ARGUMENTS = JSON.parse(command).filter((argument) => argument.startsWith('--'));

/** An empty database on the server with the tables of the checkout at `root`. */
export async function createMigratedDatabase(server, { name, root = repositoryRoot, signal }) {
  const databaseUrl = await createDatabase(server.url, name);
  if (root === repositoryRoot) await migrate({ databaseUrl, log: () => undefined, signal });
  else
    await runCommand(process.execPath, [join(root, 'scripts/migrate.mjs')], {
      environment: { ...process.env, DATABASE_URL: databaseUrl },
      signal,
    });
  return databaseUrl;
}

/** Creates a key as an operator does, by the command with these options. */
async function createKey({ root, environment, options, signal }) {
  const output = await runCommand(
    process.execPath,
    [join(root, 'scripts/command.mjs'), 'keys-create', ...options],
    { environment, signal },
  );
  return /key:\s+(\S+)/.exec(output)[1];
}

/** One process of the service, or one with its workers; `message.baseUrl` is its address. */
export const startReplica = ({ nodeArguments = [], ...options }) =>
  startChild(SERVICE_PROGRAM, {
    timeout: START_TIMEOUT_MS,
    ...options,
    nodeArguments: [...NODE_ARGUMENTS, ...nodeArguments],
  });

/** `environment` is added to the common one; `nodeArguments` are for Node itself; `root` is the checkout whose build runs. */
export async function startService(options) {
  const {
    databaseUrl,
    upstreamOrigin,
    environment = {},
    nodeArguments,
    root = repositoryRoot,
    signal,
  } = options;
  const everything = {
    PATH: process.env.PATH,
    SERVICE_ROOT: root,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    PORT: '0',
    MODEL_DISCOVERY: 'off',
    DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8',
    OPENAI_API_KEY: 'sk-stub',
    OPENAI_BASE_URL: `${upstreamOrigin}/v1`,
    // Counted but never reached: one key makes all calls.
    RATE_LIMIT_INFERENCE_PER_MINUTE: NO_LIMIT,
    RATE_LIMIT_MANAGEMENT_PER_MINUTE: NO_LIMIT,
    ...environment,
  };
  const managementKey = await createKey({ root, environment: everything, options: ['--management'], signal });
  const child = await startReplica({ environment: everything, nodeArguments, signal });
  const { baseUrl } = child.message;
  const agent = new Agent();
  const manage = (method, path, body) =>
    callOperation({ method, url: `${baseUrl}${path}`, key: managementKey, body, dispatcher: agent, signal });
  const { key, data } = await manage('POST', '/keys', { name: 'Bench', limit: 1_000_000 });
  return {
    baseUrl,
    databaseUrl,
    pid: child.process.pid,
    /** The first replica, and the environment of further ones. */
    replica: child,
    environment: everything,
    managementKey,
    key,
    keyHash: data.hash,
    manage,
    createDestination: async (type, config, more = {}) => {
      const { data: destination } = await manage('POST', '/observability/destinations', {
        type,
        name: 'Bench',
        config,
        ...more,
      });
      return destination;
    },
    stop: async () => {
      await agent.destroy();
      await child.stop();
    },
  };
}
