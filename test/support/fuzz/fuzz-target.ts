// The built service in a process of its own, between hostile callers and hostile servers, with secrets planted in it.
import { once } from 'node:events';
import { Agent, request as sendRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { SERVICE_PROGRAM, startChild } from '../processes/child.js';
import { createTestApp } from '../app/app.js';
import type { TestAccount } from '../app/app.js';
import { createTestDatabase } from '../database/database.js';
import { eventually } from '../eventually.js';
import { DEADLINE } from './budget.js';
import { Findings, PLANTED } from './findings.js';
import type { FuzzAnswer } from './findings.js';
import { startHostileServers } from './hostile-servers.js';

/** A caller and its objects: `own:destination` and the like, as requests name them. */
export interface FuzzCaller {
  readonly managementKey: string;
  readonly inferenceKey: string;
  readonly objects: Map<string, string>;
}

export interface FuzzTarget {
  readonly origin: string;
  readonly findings: Findings;
  /** The next account, with one object of each kind. */
  nextCaller(): Promise<FuzzCaller>;
  /** Recreates objects that a caller has deleted. */
  freshen(caller: FuzzCaller): Promise<void>;
  /** Resolves with any answer; rejects when there is none in time. */
  send(question: FuzzQuestion): Promise<FuzzAnswer>;
  /** Throws when the service is not as it was before; then ends it. */
  close(): Promise<void>;
}

export interface FuzzQuestion {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

interface ServiceState {
  readonly memory: number;
  readonly rss: number;
  readonly connections: number;
}

// Bytes: the maximum of the caches (64 MiB), the tokenizers that are loaded on first use, and a margin.
const ALLOWED_GROWTH = 300 * 2 ** 20;
const preload = new URL('./loopback-only.cjs', import.meta.url).pathname;

export async function startFuzzTarget(accounts: number): Promise<FuzzTarget> {
  const database = await createTestDatabase();
  const servers = await startHostileServers();
  const findings = new Findings();
  const waiting = await createAccounts(database.url, accounts);
  for (const { managementKey, apiKey } of waiting) {
    findings.keepSecret(managementKey);
    findings.keepSecret(apiKey);
  }
  const controller = new AbortController();
  const child = await startChild<{ readonly baseUrl: string }>(SERVICE_PROGRAM, {
    preload,
    signal: controller.signal,
    onOutput: findings.watchLog,
    environment: {
      DATABASE_URL: withPassword(database.url),
      DATABASE_POOL_SIZE: '5',
      PORT: '0',
      LOG_LEVEL: 'info',
      MODEL_DISCOVERY: 'off',
      ENCRYPTION_KEYS: PLANTED.encryptionKey,
      OPENAI_API_KEY: PLANTED.providerKey,
      OPENAI_BASE_URL: servers.providerUrl,
      ANTHROPIC_API_KEY: PLANTED.providerKey,
      ANTHROPIC_BASE_URL: servers.providerUrl,
      DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8',
      RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0',
      RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      PROVIDER_TIMEOUT_MS: '3000',
      CHAT_HEADERS_TIMEOUT_MS: '3000',
      CHAT_FIRST_TOKEN_TIMEOUT_MS: '3000',
      CHAT_IDLE_TIMEOUT_MS: '3000',
      CHAT_ANSWER_TIMEOUT_MS: '3000',
      PROVIDER_RETRIES: '1',
      PROVIDER_RETRY_BASE_DELAY_MS: '1',
      BROADCAST_SWEEP_INTERVAL_MS: '200',
    },
  });
  const { origin } = new URL(child.message.baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const send = (question: FuzzQuestion): Promise<FuzzAnswer> => ask(origin, agent, question);
  const stateOf = async (): Promise<ServiceState> => {
    const message = once(child.process, 'message', { signal: AbortSignal.timeout(DEADLINE) });
    child.process.send('state');
    return (await message)[0] as ServiceState;
  };
  /** Requests that hold a place, and the bytes that they hold, by group; streams and drains of chats. */
  const held = async (): Promise<readonly string[]> => {
    const { body } = await send({ method: 'GET', path: '/metrics', headers: {} });
    return body.toString('utf8').match(/^signalbox_(?:http_in_flight(?:_bytes)?\{|chat_open_).*$/gm) ?? [];
  };
  const before = await stateOf();

  const check = async (): Promise<void> => {
    if (child.process.exitCode !== null || child.process.signalCode !== null)
      throw new Error('the service has ended');
    await eventually(held, (lines) => lines.length === 10 && lines.every((line) => line.endsWith(' 0')));
    agent.destroy();
    // None of those that it was sent requests on may stay.
    await eventually(stateOf, ({ connections }) => connections === 0);
    const { memory } = await stateOf();
    const growth = memory - before.memory;
    if (growth > ALLOWED_GROWTH) throw new Error(`the service has grown by ${growth} bytes`);
    const problems = findings.problemsOfLog();
    if (problems.length > 0) throw new Error(`the log:\n${problems.slice(0, 10).join('\n')}`);
  };
  return {
    origin,
    findings,
    send,
    nextCaller: async () => {
      const account = waiting.pop();
      if (!account) throw new Error('more callers than accounts');
      const caller: FuzzCaller = {
        managementKey: account.managementKey,
        inferenceKey: account.apiKey,
        objects: new Map([
          ['default-workspace', account.workspaceId],
          ['hook', servers.hookUrl],
        ]),
      };
      await makeObjects(send, caller);
      return caller;
    },
    freshen: (caller) => makeObjects(send, caller),
    close: async () => {
      try {
        await check();
      } finally {
        agent.destroy();
        await child.stop();
        await servers.close();
        await database.drop();
      }
    },
  };
}

async function createAccounts(databaseUrl: string, count: number): Promise<TestAccount[]> {
  const app = await createTestApp({ databaseUrl });
  const accounts: TestAccount[] = [];
  while (accounts.length < count) accounts.push(await app.createAccount());
  await app.close();
  return accounts;
}

/** The test server asks for no password: one that it need not know is a secret all the same. */
function withPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  if (url.password === '') url.password = PLANTED.databasePassword;
  return url.href;
}

/** The first id in a response. */
interface Created {
  readonly data?: { readonly id?: string; readonly hash?: string; readonly slug?: string };
  readonly id?: string;
}

async function makeObjects(send: FuzzTarget['send'], caller: FuzzCaller): Promise<void> {
  const make = async (path: string, body: object, key = caller.managementKey): Promise<Created> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await send({
      method: 'POST',
      path: `/api/v1${path}`,
      headers,
      body: Buffer.from(JSON.stringify(body)),
    });
    return answer.status < 300 ? (JSON.parse(answer.body.toString('utf8')) as Created) : {};
  };
  const keep = (name: string, value: string | undefined): void => {
    if (value !== undefined) caller.objects.set(name, value);
  };
  const slug = `w-${Date.now().toString(36)}${process.hrtime.bigint().toString(36)}`.slice(0, 40);
  keep('workspace', (await make('/workspaces', { name: 'Fuzzed', slug })).data?.id);
  keep('hash', (await make('/keys', { name: 'Fuzzed' })).data?.hash);
  const config = { url: caller.objects.get('hook'), headers: { 'x-secret': PLANTED.hookHeader } };
  keep(
    'destination',
    (await make('/observability/destinations', { type: 'webhook', name: 'Hook', config })).data?.id,
  );
  keep('byok', (await make('/byok', { provider: 'openai', key: PLANTED.ownKey })).data?.id);
  const call = { model: 'local/hashing', input: 'words', dimensions: 8 };
  keep('generation', (await make('/embeddings', call, caller.inferenceKey)).id);
}

function ask(
  origin: string,
  agent: Agent,
  { method, path, headers, body }: FuzzQuestion,
): Promise<FuzzAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const request = sendRequest({ hostname, port, method, path, agent, headers: { ...headers } });
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${DEADLINE} ms`)), DEADLINE);
    request.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    request.on('response', (response) => {
      readBody(response)
        .then((bytes) => ({ status: response.statusCode ?? 0, headers: response.headers, body: bytes }))
        .finally(() => clearTimeout(timer))
        .then(resolve, reject);
    });
    // Set even where the method has no use for a body: it is sent all the same.
    if (body) request.setHeader('content-length', body.length);
    request.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
