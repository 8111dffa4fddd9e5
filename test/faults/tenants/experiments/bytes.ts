import { besideFigures, besideProblems, measureBeside } from '../beside.js';
import type { ParametersOf } from '../attacks.js';
import { brokenRules, megabytes } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { createKey, FREE_MODEL, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import type { Answer, TenantLab } from '../tenant-lab.js';
import type { RunningAttack } from '../running-attack.js';

const TIMES = { calmMs: 4_000, attackMs: 8_000 };
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

/** Inputs and width of calls: their answers have about 17 MB, 8 MB and so on, down to some hundred bytes. */
const UNREAD: readonly (readonly [inputs: number, dimensions: number])[] = [
  ...filling(1_500, 1, 1).map((inputs) => [inputs, 1_024] as const),
  ...filling(64, 1, 1).map((inputs) => [inputs, 8] as const),
  [1, 8],
  [1, 8],
];
const WORDS = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu';

/** Small bodies of the free model with large answers. */
export function unreadCalls(): ParametersOf<'unreadAnswers'> {
  return {
    connections: 4,
    bodies: UNREAD.map(([inputs, dimensions]) =>
      JSON.stringify({
        model: FREE_MODEL,
        dimensions,
        input: Array.from({ length: inputs }, (_value, index) => `${index} ${WORDS}`),
      }),
    ),
  };
}

const isUnanswered = ({ status }: Answer): boolean => status === 0;

interface ByteAttack {
  readonly name: string;
  readonly title: string;
  readonly begin: (lab: TenantLab) => Promise<RunningAttack>;
}

const byteExperiment = ({ name, title, begin }: ByteAttack): Experiment => ({
  name,
  item: 10,
  title,
  run: (context, { root, label }) =>
    inTenantLab(context, { name: `${name.replaceAll('-', '_')}_${label}`, root }, async (lab) => {
      const { hash } = await createKey(lab, {});
      const operation = () =>
        lab.call('PATCH', `/keys/${hash}`, {
          key: lab.keys.managementKey,
          body: { name: 'Changed beside the attack' },
          patience: 4_000,
        });
      const operations: Answer[] = [];
      const beside = await measureBeside(lab, TIMES, async () => {
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
      const refused = operations.filter(({ status }) => status !== 200).length;
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
            [refused > 0, `${refused} operations of the others failed`],
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
    'What is announced and has not come takes nothing from the others.',
  begin: (lab) => lab.attack('slowUploads', SLOW_BODIES),
});

export const unreadAnswers = byteExperiment({
  name: 'unread-answers',
  title:
    'Calls of the free model with answers of 17 MB and less are made on 4 connections and never read. They cost no other ' +
    'account its calls.',
  begin: (lab) => lab.attack('unreadAnswers', unreadCalls()),
});

export const oneByteChunks = byteExperiment({
  name: 'one-byte-chunks',
  title: '3 bodies of 300,000 chunks of one byte each. What they take up is counted, and refused in time.',
  begin: (lab) => lab.attack('tinyChunks', { connections: 3, chunks: 300_000 }),
});

export const pipelinedGets = byteExperiment({
  name: 'pipelined-gets',
  title:
    '100 requests for a public document on each of 10 connections, without a credential and without reading. The memory ' +
    'stays bounded.',
  begin: (lab) => lab.attack('pipelined', { connections: 10, requests: 100, path: PUBLIC_DOCUMENT }),
});
