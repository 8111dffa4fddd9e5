// The lab of every experiment of one tenant against others: one replica of the examined build with a bounded heap, and
// a second account, which attacks. The account of the lab is the other tenant.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { startChild } from '../../test/support/processes/child.js';
import type { Lab } from '../replicas/lab.js';
import { REPOSITORY } from '../replicas/replica.js';
import type { Replica } from '../replicas/replica.js';
import { inLab } from '../replicas/scenario.js';
import type { ScenarioContext } from '../replicas/scenario.js';
import type { AttackFigures, AttackName, AttackTarget, ParametersOf } from './attacks.js';
import { watchProcesses } from './process-watch.js';
import type { ProcessWatch } from './process-watch.js';
import { startAttack } from './running-attack.js';
import type { RunningAttack } from './running-attack.js';

const ACCOUNT_PROGRAM = fileURLToPath(new URL('account-process.mjs', import.meta.url));
const TIMEOUT_MS = 60_000;
// MB. A process that an attack kills must not take the machine with it.
const HEAP = 1_024;

export interface Account {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly managementKey: string;
  readonly apiKey: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly milliseconds: number;
}

export interface CallOptions {
  readonly key: string;
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly replica?: Replica;
}

export interface TenantLab extends Lab {
  readonly replica: Replica;
  readonly attacker: Account;
  readonly processes: ProcessWatch;
  readonly root: string;
  /** Any request; status 0 where no answer came. */
  call(method: string, path: string, options: CallOptions): Promise<Answer>;
  /** An operation of the attacker's; throws for anything but 2xx. */
  operate(method: string, path: string, body?: object): Promise<unknown>;
  attack<Name extends AttackName>(name: Name, parameters: ParametersOf<Name>): Promise<RunningAttack>;
  /** The health probe, from a process of its own. */
  probe(): Promise<RunningAttack>;
}

export interface TenantLabOptions {
  /** The name of the database. */
  readonly name: string;
  /** A checkout with a dist of its own; by default this one. */
  readonly root?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function inTenantLab<Result>(
  context: ScenarioContext,
  { name, root = REPOSITORY, environment = {} }: TenantLabOptions,
  work: (lab: TenantLab) => Promise<Result>,
): Promise<Result> {
  const replicaOptions = {
    root,
    environment: { NODE_OPTIONS: `--max-old-space-size=${HEAP}`, ...environment },
  };
  const migrate =
    root === REPOSITORY
      ? {}
      : {
          migrate: (databaseUrl: string) =>
            context.run(process.execPath, [join(root, 'scripts/migrate.mjs')], {
              environment: { DATABASE_URL: databaseUrl },
              directory: root,
            }),
        };
  return inLab(context, { name, replicas: 1, replicaOptions, ...migrate }, async (lab) => {
    const [replica] = lab.replicas;
    if (!replica) throw new Error('there is no replica');
    const processes = watchProcesses(replica.pid);
    const attacks: RunningAttack[] = [];
    try {
      const attacker = await createAccount(lab, root);
      const call = caller(lab, replica);
      const target = { baseUrl: replica.baseUrl, ...attacker };
      const attack = async <Name extends AttackName>(
        attackName: Name,
        parameters: ParametersOf<Name>,
      ): Promise<RunningAttack> => {
        const running = await startAttack(attackName, withoutRest(target), parameters, lab.signal);
        attacks.push(running);
        return running;
      };
      return await work({
        ...lab,
        replica,
        attacker,
        processes,
        root,
        call,
        operate: (method, path, body) => operate(call, attacker.managementKey, method, path, body),
        attack,
        probe: () => attack('probe', { path: '/health', every: 20 }),
      });
    } finally {
      processes.stop();
      await Promise.all(attacks.map((running) => running.stop().catch((): AttackFigures => ({}))));
    }
  });
}

function withoutRest({ baseUrl, managementKey, apiKey }: AttackTarget): AttackTarget {
  return { baseUrl, managementKey, apiKey };
}

async function createAccount(lab: Lab, root: string): Promise<Account> {
  const child = await startChild<Omit<Account, 'apiKey'>>(ACCOUNT_PROGRAM, {
    environment: {
      DATABASE_URL: lab.databaseUrl,
      SERVICE_ROOT: root,
      ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    },
    timeout: TIMEOUT_MS,
    signal: lab.signal,
  });
  await child.stop();
  const account = child.message;
  const [replica] = lab.replicas;
  if (!replica) throw new Error('there is no replica');
  const call = caller(lab, replica);
  const created = await operate(call, account.managementKey, 'POST', '/keys', { name: 'Attacker' });
  return { ...account, apiKey: (created as { readonly key: string }).key };
}

function caller(lab: Lab, own: Replica): TenantLab['call'] {
  return async (method, path, { key, body, headers, timeout = 30_000, replica = own }) => {
    const startedAt = performance.now();
    const url = `${replica.baseUrl}${path}`;
    try {
      const answer = await request(url, {
        method: method as 'GET',
        dispatcher: lab.agent,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
        headersTimeout: timeout,
        bodyTimeout: timeout,
        signal: AbortSignal.any([lab.signal, AbortSignal.timeout(Math.ceil(timeout))]),
      });
      const text = await answer.body.text();
      const milliseconds = performance.now() - startedAt;
      return { status: answer.statusCode, text, headers: answer.headers, milliseconds };
    } catch {
      lab.signal.throwIfAborted();
      return { status: 0, text: '', headers: {}, milliseconds: performance.now() - startedAt };
    }
  };
}

async function operate(
  call: TenantLab['call'],
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const { status, text } = await call(method, path, { key, ...(body === undefined ? {} : { body }) });
  if (status < 200 || status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as unknown;
}
