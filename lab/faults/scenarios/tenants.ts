// One tenant against the others: what an account can do to the processor, the memory and the connections of a service must
// neither fail nor delay the calls of another account, and must leave its ledger right.
import { request } from 'undici';
import { check } from '../../replicas/scenario.js';
import type { Scenario, ScenarioContext, ScenarioResult } from '../../replicas/scenario.js';
import type { AttackPart } from '../../tenants/attacks.js';
import {
  besideFigures,
  besideProblems,
  lagFigures,
  lagProblems,
  measureBeside,
} from '../../tenants/beside.js';
import { brokenRules } from '../../tenants/experiment.js';
import { SLOW_BODIES, unreadCalls } from '../../tenants/experiments/bytes.js';
import { createDearFilter, dearCalls } from '../../tenants/experiments/filter-evaluation.js';
import { memberBombs } from '../../tenants/experiments/members.js';
import {
  createConnectionTakers,
  largeCalls,
  PERMITS,
  slowForLargeCalls,
} from '../../tenants/experiments/permits.js';
import { bombRule, FIVE_TOKENS, PRICED_MODEL, webhook } from '../../tenants/requests.js';
import { inTenantLab } from '../../tenants/tenant-lab.js';
import type { TenantLab } from '../../tenants/tenant-lab.js';
import { megabytes } from '../../support/statistics.js';

// Some 700 calls before, and 1,500 beside the attack: a p99 is then of more than a handful.
const CALM_MS = 8_000;
const ATTACK_MS = 18_000;
const IDLE_TIMEOUT_MS = 15_000;
// Milliseconds that a delivery of the others may take beside the attack, where twice the earlier time is less.
const TOLERATED_LAG_MS = 5_000;
const TOLERATED_BYTES = 600 * 1024 * 1024;
// As an operator has them who sets nothing.
const USUAL_RATES = { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '600', RATE_LIMIT_INFERENCE_PER_MINUTE: '6000' };

interface TenantAttack {
  readonly name: string;
  /** The name of the database. */
  readonly database: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The state before the attack; its parts run at the same time in one process. */
  readonly prepare: (lab: TenantLab) => Promise<PreparedAttack>;
}

interface PreparedAttack {
  readonly parts: readonly AttackPart[];
  close?(): Promise<void>;
}

const tenantAttack = ({ name, database, environment = {}, prepare }: TenantAttack): Scenario => ({
  name,
  run: (context) =>
    inTenantLab(context, optionsOf(context, database, environment), async (lab) => {
      const prepared = await prepare(lab);
      try {
        return await attackBeside(lab, prepared.parts);
      } finally {
        await prepared.close?.();
      }
    }),
});

function optionsOf(
  { build }: ScenarioContext,
  name: string,
  environment: Readonly<Record<string, string>>,
): Parameters<typeof inTenantLab>[1] {
  return {
    name,
    environment: { ...USUAL_RATES, ...environment },
    ...(build === undefined ? {} : { root: build }),
  };
}

async function attackBeside(lab: TenantLab, parts: readonly AttackPart[]): Promise<ScenarioResult> {
  const times = { calmMs: CALM_MS, attackMs: ATTACK_MS };
  const beside = await measureBeside(lab, times, async () => [await lab.attack('several', parts)]);
  const { isAlive, restarts, killed, delivering } = lab.processes.look();
  const { bytesBefore, bytesAfter } = beside;
  // A dead process delivers nothing; the ledger is checked all the same.
  if (isAlive) await untilIdle(lab);
  else lab.replicas.splice(0, 1, await lab.startReplica());
  const [attack = {}] = beside.attacks;
  return check(lab, [beside.warmUp, beside.calm, beside.attacked], {
    problems: [
      ...besideProblems(lab, beside),
      ...lagProblems(beside, TOLERATED_LAG_MS),
      ...brokenRules(
        [restarts > 0 || killed > 0, `${restarts} processes died that deliver, ${killed} were too large`],
        [bytesAfter - bytesBefore > TOLERATED_BYTES, `memory grew by ${megabytes(bytesAfter - bytesBefore)}`],
      ),
    ],
    remarks: [
      ...Object.entries(besideFigures(lab, beside)).map(([what, text]) => `${what}: ${text}`),
      ...Object.entries(lagFigures(beside)).map(([what, text]) => `${what}: ${text}`),
      `memory of the process that delivers, peak: ${megabytes(delivering)}`,
      `what the attacker did: ${Object.entries(attack)
        .filter(([what]) => !/p50|longest/.test(what))
        .map(([what, count]) => `${what} ${Math.round(count)}`)
        .join(', ')}`,
    ],
  });
}

/** Calls that the attacker has begun may still be charged. */
async function untilIdle(lab: TenantLab): Promise<void> {
  const deadline = performance.now() + IDLE_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const { body } = await request(new URL('/metrics', lab.replica.baseUrl), { dispatcher: lab.agent });
    if ((await body.text()).includes('signalbox_http_in_flight{group="calls"} 0')) return;
    await lab.wait(100);
  }
}

const OWN_KEYS = 40;
const OWN_KEY_INPUTS = 500;

export const attackOnProcessor: Scenario = tenantAttack({
  name: 'A tenant attacks the processor',
  database: 'tenant_cpu',
  prepare: async (lab) => {
    await createDearFilter(lab, 'http://127.0.0.1:9/');
    for (let count = 0; count < OWN_KEYS; count++)
      await lab.call('POST', '/byok', {
        key: lab.attacker.managementKey,
        body: { provider: 'openai', key: `sk-own-${count}-0123456789abcdef` },
      });
    const input = Array.from({ length: OWN_KEY_INPUTS }, () => FIVE_TOKENS);
    const rules = Array.from({ length: 20 }, (_value, index) => bombRule('session_id', index));
    const post = (body: string) => ({ method: 'POST', key: 'inference', path: '/embeddings', body }) as const;
    const timeout = 20_000;
    return {
      parts: [
        {
          // A backlog for the filter, of texts that it has never seen.
          name: 'storm',
          parameters: {
            requests: dearCalls(lab, 200).map((body) => post(body)),
            clients: 2,
            most: 800,
            pause: 20,
            timeout,
          },
        },
        {
          name: 'storm',
          parameters: {
            requests: memberBombs().map(({ path, key, body }) => ({ method: 'POST', path, key, body })),
            clients: 1,
            most: 12,
            pause: 1_500,
            timeout,
          },
        },
        {
          name: 'storm',
          parameters: {
            requests: [
              {
                method: 'POST',
                path: '/observability/destinations',
                key: 'management',
                body: JSON.stringify(
                  webhook('http://127.0.0.1:9/', { filter_rules: { groups: [{ rules }] } }),
                ),
              },
            ],
            clients: 1,
            most: 5,
            pause: 3_000,
            timeout,
          },
        },
        {
          // Calls that try the own keys, all of which the provider refuses.
          name: 'storm',
          parameters: {
            requests: [post(JSON.stringify({ model: PRICED_MODEL, dimensions: 1, input }))],
            clients: 2,
            most: 100,
            pause: 200,
            timeout,
          },
        },
        {
          name: 'storm',
          parameters: {
            requests: [0, 1, 2].map((index) => ({
              method: 'PATCH',
              path: `/workspaces/${lab.attacker.workspaceId}`,
              key: 'management',
              body: JSON.stringify({ name: `Changed ${index}` }),
            })),
            clients: 8,
            most: 10_000,
            pause: 10,
            timeout,
          },
        },
      ],
    };
  },
});

export const attackOnBytes: Scenario = tenantAttack({
  name: 'A tenant attacks the memory',
  database: 'tenant_bytes',
  prepare: async () => ({
    parts: [
      { name: 'slowUploads', parameters: SLOW_BODIES },
      { name: 'unreadAnswers', parameters: unreadCalls() },
      { name: 'tinyChunks', parameters: { connections: 3, chunks: 200_000 } },
      { name: 'pipelined', parameters: { connections: 10, requests: 100, path: '/api/v1/openapi.json' } },
    ],
  }),
});

export const attackOnConnections: Scenario = tenantAttack({
  name: 'A tenant attacks the connections',
  database: 'tenant_connections',
  environment: { ENDPOINT_CONCURRENCY: `${PERMITS}` },
  prepare: async (lab) => {
    slowForLargeCalls(lab);
    const takers = await createConnectionTakers(lab);
    return {
      parts: [
        { name: 'storm', parameters: takers.calls },
        { name: 'storm', parameters: largeCalls(200) },
      ],
      close: () => takers.close(),
    };
  },
});
