import { besideFigures, besideProblems, measureBeside } from '../beside.js';
import { brokenRules, megabytes } from '../experiment.js';
import type { Experiment } from '../experiment.js';
import { FREE_MODEL, statusesOf } from '../requests.js';
import { inTenantLab } from '../tenant-lab.js';
import type { Answer, TenantLab } from '../tenant-lab.js';
import type { RunningAttack } from '../running-attack.js';

const TIMES = { calmMs: 4_000, attackMs: 8_000 };
const TOLERATED_BYTES = 400 * 1024 * 1024;
const PUBLIC_DOCUMENT = '/api/v1/openapi.json';

/** A small body of the free model whose answer has about 17 MB. */
export function bodyOfLargeAnswer(): string {
  return JSON.stringify({
    model: FREE_MODEL,
    dimensions: 1_024,
    input: Array.from({ length: 1_500 }, (_value, index) => `input ${index}`),
  });
}

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
      const operation = () => lab.call('GET', '/keys', { key: lab.keys.managementKey, patience: 5_000 });
      const operations: Answer[] = [];
      const beside = await measureBeside(lab, TIMES, async () => {
        const attack = await begin(lab);
        await lab.wait(1_500);
        for (let count = 0; count < 10; count++) {
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
    '8 bodies of 20 MiB to embeddings and 8 of 1 MiB to operations are announced, and sent byte by byte. What is announced ' +
    'and has not come takes nothing from the others.',
  begin: (lab) =>
    lab.attack('slowUploads', {
      embeddings: 8,
      embeddingsBytes: 20 * 1024 * 1024,
      operations: 8,
      operationsBytes: 1024 * 1024,
      every: 500,
    }),
});

export const unreadAnswers = byteExperiment({
  name: 'unread-answers',
  title:
    '6 calls of the free model whose answers of about 17 MB are never read. They cost no other account its calls.',
  begin: (lab) => lab.attack('unreadAnswers', { connections: 6, body: bodyOfLargeAnswer() }),
});

export const oneByteChunks = byteExperiment({
  name: 'one-byte-chunks',
  title:
    '3 bodies of up to 1,000,000 chunks of one byte each. What they take up is counted, and refused in time.',
  begin: (lab) => lab.attack('tinyChunks', { connections: 3, chunks: 1_000_000 }),
});

export const pipelinedGets = byteExperiment({
  name: 'pipelined-gets',
  title:
    '300 requests for a public document on each of 10 connections, without a credential and without reading. The memory ' +
    'stays bounded.',
  begin: (lab) => lab.attack('pipelined', { connections: 10, requests: 300, path: PUBLIC_DOCUMENT }),
});
