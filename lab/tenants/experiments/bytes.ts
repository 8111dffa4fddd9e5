import type { LoadOptions } from '../../replicas/load.js';
import { besideFigures, besideProblems, measureBeside, OTHER_LOAD } from '../beside.js';
import type { ParametersOf } from '../attacks.js';
import { brokenRules } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, FREE_MODEL, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import type { Answer, TenantLab } from '../tenant-lab.js';
import type { RunningAttack } from '../running-attack.js';
import { megabytes } from '../../support/statistics.js';

const TIMES = { calmMs: 4_000, attackMs: 8_000 };
// The load of an ingestion: the answer of each call counts as 7 MB, a tenth of what a process with this heap may hold.
const LARGE_LOAD: LoadOptions = { clients: 2, pause: 100, sizes: [160], dimensions: 1_536 };
const TOLERATED_BYTES = 400 * 1024 * 1024;
const PUBLIC_DOCUMENT = '/api/v1/openapi.json';

const MEBIBYTE = 1024 * 1024;

/** So many large ones, and then smaller and smaller ones for what is left of a bound. */
function filling(large: number, count: number, least: number): number[] {
  const sizes = Array.from({ length: count }, () => large);
  for (let size = large / 2; size >= least; size /= 2) sizes.push(Math.floor(size));
  return sizes;
}

export const SLOW_BODIES: ParametersOf<'slowUploads'> = {
  embeddings: filling(20 * MEBIBYTE, 4, 60),
  operations: filling(MEBIBYTE, 8, 60),
  every: 500,
};

/**
 * Small bodies of the free model with large answers, down to some KB: sent at once, they are all let in before the first
 * answer fills the connection, and the others wait behind it.
 */
export function unreadCalls(): ParametersOf<'unreadAnswers'> {
  return {
    connections: 2,
    bodies: filling(1_500, 4, 1).map((inputs) =>
      JSON.stringify({
        model: FREE_MODEL,
        dimensions: 1_024,
        encoding_format: 'base64',
        input: Array.from({ length: inputs }, (_value, index) => `${index}`),
      }),
    ),
  };
}

const isUnanswered = ({ status }: Answer): boolean => status === 0;

interface ByteAttack {
  readonly name: string;
  readonly title: string;
  /** The load of the other tenants. */
  readonly load?: LoadOptions;
  readonly begin: (lab: TenantLab) => Promise<RunningAttack>;
}

const byteExperiment = ({ name, title, load = OTHER_LOAD, begin }: ByteAttack): Experiment => ({
  name,
  title,
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `${name.replaceAll('-', '_')}_${label}`, root }, async (lab) => {
      const { hash } = await createKey(lab, {});
      const operation = () =>
        lab.call('PATCH', `/keys/${hash}`, {
          key: lab.keys.managementKey,
          body: { name: 'Changed beside the attack' },
          timeout: 4_000,
        });
      const operations: Answer[] = [];
      const beside = await measureBeside(lab, { ...TIMES, load }, async () => {
        const attack = await begin(lab);
        await lab.wait(1_500);
        for (let count = 0; count < 10 && operations.filter(isUnanswered).length < 2; count++) {
          operations.push(await operation());
          await lab.wait(100);
        }
        return [attack];
      });
      const [attack = {}] = beside.attacks;
      const { bytesAfter, bytesBefore } = beside;
      const rejected = operations.filter(({ status }) => status !== 200).length;
      return {
        figures: {
          'what the attacker has done': Object.entries(attack)
            .map(([what, count]) => `${what} ${count}`)
            .join(', '),
          "others' operations": statusesOf(operations),
          ...besideFigures(lab, beside),
        },
        problems: [
          ...besideProblems(lab, beside),
          ...brokenRules(
            [rejected > 0, `${rejected} operations of the others failed`],
            [
              bytesAfter - bytesBefore > TOLERATED_BYTES,
              `memory grew by ${megabytes(bytesAfter - bytesBefore)}`,
            ],
          ),
        ],
      };
    }),
});

export const slowUploads = byteExperiment({
  name: 'slow-uploads',
  title:
    'Bodies of 20 MiB and less to embeddings, and of 1 MiB and less to operations, are announced and sent byte by byte. ' +
    'Announced bytes that have not arrived take nothing from the others.',
  begin: (lab) => lab.attack('slowUploads', SLOW_BODIES),
});

export const unreadAnswers = byteExperiment({
  name: 'unread-answers',
  title:
    'Calls of the free model with answers of 8 MB and less are made and never read. They cost no other account its calls.',
  load: LARGE_LOAD,
  begin: (lab) => lab.attack('unreadAnswers', unreadCalls()),
});

export const oneByteChunks = byteExperiment({
  name: 'one-byte-chunks',
  title: '3 bodies of 300,000 chunks of one byte each. Their memory is counted, and rejected in time.',
  begin: (lab) => lab.attack('tinyChunks', { connections: 3, chunks: 300_000 }),
});

export const pipelinedGets = byteExperiment({
  name: 'pipelined-gets',
  title:
    '100 requests for a public document on each of 10 connections, without a credential and without reading. The memory ' +
    'stays bounded.',
  begin: (lab) => lab.attack('pipelined', { connections: 10, requests: 100, path: PUBLIC_DOCUMENT }),
});
