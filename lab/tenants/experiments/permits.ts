import { besideFigures, besideProblems, lagFigures, lagProblems, measureBeside } from '../beside.js';
import type { StormParameters } from '../attacks.js';
import type { Experiment } from '../experiment.js';
import {
  answerWithUsage,
  createKey,
  createWorkspace,
  FREE_MODEL,
  PRICED_MODEL,
  statusesIn,
} from '../requests.js';
import { startAttackerServer } from '../servers.js';
import type { AttackerServer } from '../servers.js';
import { inTenantLab } from '../tenant-lab.js';
import type { TenantLab } from '../tenant-lab.js';

// A sixteenth of the permits that an endpoint usually has, so that the attack needs a sixteenth of the calls.
export const PERMITS = 16;
const LARGE_CALLS = 24;
const PARTS = 8;
const INPUTS_OF_A_PART = 2_048;
// Milliseconds that the provider takes for one part of a large call.
const PART_TAKES = 400;

/** Calls of many parts, and a provider that is slow for each of them. */
export function slowForLargeCalls(lab: TenantLab): void {
  const serve = answerWithUsage((inputs) => inputs.length);
  lab.upstream.answerWith((request, response) => {
    const { input } = request.body;
    if (!Array.isArray(input) || input.length < INPUTS_OF_A_PART) return serve(request, response);
    setTimeout(() => void serve(request, response), PART_TAKES);
  });
}

export const largeCalls = (most: number): StormParameters => ({
  requests: [
    {
      method: 'POST' as const,
      path: '/embeddings',
      key: 'inference' as const,
      body: JSON.stringify({
        model: PRICED_MODEL,
        dimensions: 1,
        input: Array.from({ length: PARTS * INPUTS_OF_A_PART }, () => 'a'),
      }),
    },
  ],
  clients: LARGE_CALLS,
  most,
  pause: 0,
  timeout: 30_000,
});

export const endpointPermits: Experiment = {
  name: 'endpoint-permits',
  title:
    `${LARGE_CALLS} large calls of one account take the ${PERMITS} permits of an endpoint. Single inputs of another account ` +
    'take as long as before.',
  run: (context, { root, label }) =>
    inTenantLab(
      context,
      { name: `permits_${label}`, root, environment: { ENDPOINT_CONCURRENCY: `${PERMITS}` } },
      async (lab) => {
        slowForLargeCalls(lab);
        const beside = await measureBeside(lab, { calmMs: 4_000, attackMs: 7_000 }, async () => [
          await lab.attack('storm', largeCalls(60)),
        ]);
        return {
          figures: {
            "attacker's calls": statusesIn(beside.attacks[0] ?? {}),
            ...besideFigures(lab, beside),
          },
          problems: besideProblems(lab, beside),
        };
      },
    ),
};

const ORIGINS = 8;
const WORKSPACES = 7;
const DESTINATIONS_OF_A_KIND = 5;
// Each destination of this kind sends so many requests at once.
const CALLS_OF_A_WORKSPACE = 40;
const TOLERATED_LAG_MS = 2_500;

export interface ConnectionTakers {
  /** How many destinations could be made. */
  readonly destinations: number;
  readonly connections: () => number;
  /** Calls whose deliveries take the connections. */
  readonly calls: StormParameters;
  close(): Promise<void>;
}

/** Destinations of the attacker that send to receivers which never answer, over as many connections as there are. */
export async function createConnectionTakers(lab: TenantLab): Promise<ConnectionTakers> {
  const servers: AttackerServer[] = [];
  for (let count = 0; count < ORIGINS; count++)
    servers.push(await startAttackerServer({ answersAfter: null }));
  const { managementKey } = lab.attacker;
  const bearers: string[] = [];
  let destinations = 0;
  for (let workspace = 0; workspace < WORKSPACES; workspace++) {
    const id = await createWorkspace(lab, `takes-${workspace}`, managementKey).catch(() => null);
    if (id === null) break;
    bearers.push((await createKey(lab, { workspace_id: id }, managementKey)).key);
    for (let count = 0; count < DESTINATIONS_OF_A_KIND; count++) {
      const { status } = await lab.call('POST', '/observability/destinations', {
        key: managementKey,
        body: {
          type: 's3',
          name: 'Takes connections',
          workspace_id: id,
          config: {
            bucketName: 'bucket',
            accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
            secretAccessKey: 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
            region: 'eu-central-1',
            endpoint: servers[destinations % ORIGINS]?.origin,
          },
        },
      });
      if (status === 201) destinations++;
    }
  }
  const body = JSON.stringify({ model: FREE_MODEL, dimensions: 8, input: 'delivered to no destination' });
  return {
    destinations,
    connections: () => servers.reduce((sum, { connections }) => sum + connections(), 0),
    calls: {
      requests: bearers.map((bearer) => ({
        method: 'POST' as const,
        path: '/embeddings',
        key: 'inference' as const,
        bearer,
        body,
      })),
      clients: 4,
      most: bearers.length * CALLS_OF_A_WORKSPACE,
      pause: 0,
      timeout: 10_000,
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

export const destinationConnections: Experiment = {
  name: 'destination-connections',
  title:
    `${WORKSPACES * DESTINATIONS_OF_A_KIND} destinations of one account take as many connections as there are and never ` +
    'answer. Deliveries of another account arrive as before.',
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `connections_${label}`, root }, async (lab) => {
      const takers = await createConnectionTakers(lab);
      try {
        let most = 0;
        const timer = setInterval(() => {
          most = Math.max(most, takers.connections());
        }, 100);
        const beside = await measureBeside(lab, { calmMs: 3_000, attackMs: 8_000 }, async () => [
          await lab.attack('storm', takers.calls),
        ]);
        clearInterval(timer);
        return {
          figures: {
            "attacker's destinations, connections at most": `${takers.destinations}, ${most}`,
            ...lagFigures(beside),
            ...besideFigures(lab, beside),
          },
          problems: [...besideProblems(lab, beside), ...lagProblems(beside, TOLERATED_LAG_MS)],
        };
      } finally {
        await takers.close();
      }
    }),
};
