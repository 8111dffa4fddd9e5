// Memory under full load for minutes: whether it is stable once everything is warm.
import { embeddingsJob, openGateways } from '../testbed/measuring.mjs';
import { mean, percent, percentWithTenths, whole } from '../../support/statistics.ts';
import { memoryMebibytes } from '../testbed/usage.mjs';

const CALL = { inputs: 1, format: 'base64', dimensions: 1536 };
const CONNECTIONS = 50;
/**
 * The length of each of the two adjacent windows that are compared. Longer than V8's time between two full collections
 * under that load, five to eight minutes: memory rises by a tenth in between, and a shorter window sees a part of it.
 */
const MINUTES = 10;
const WARM_UP_MINUTES = 5;
const SAMPLES_PER_MINUTE = 12;
const MOST_GROWTH = 0.1;
const ROWS = 20;

async function sampleDuring(work, take) {
  const samples = [];
  const timer = setInterval(() => samples.push(take()), 60_000 / SAMPLES_PER_MINUTE);
  try {
    return { result: await work(), samples };
  } finally {
    clearInterval(timer);
  }
}

export const memory = {
  name: 'memory',
  title: 'Memory under full load',
  isLong: true,
  /** It has no rounds. */
  settings: ({ minutes = MINUTES }) => ({ minutes }),
  async measure(testbed, { minutes }) {
    const [service] = await openGateways(testbed, ['service']);
    await testbed.setUpstreamDelay(0);
    const warmUp = Math.min(WARM_UP_MINUTES, minutes);
    const inAll = warmUp + 2 * minutes;
    const { result, samples } = await testbed.progress.step(`Full load for ${inAll} min`, () =>
      sampleDuring(
        () =>
          testbed.runLoad({ ...embeddingsJob(service, CALL), connections: CONNECTIONS, seconds: inAll * 60 }),
        () => memoryMebibytes(service.pid),
      ),
    );
    const length = Math.max(Math.round(minutes * SAMPLES_PER_MINUTE), 1);
    const first = samples.slice(-2 * length, -length);
    const second = samples.slice(-length);
    const growth = mean(second) / mean(first) - 1;
    const every = Math.max(Math.floor(samples.length / ROWS), 1);
    const figure = `${growth < 0 ? '' : '+'}${percentWithTenths(growth)}`;
    return {
      summary: [{ what: `growth of memory in ${minutes} minutes`, figures: { service: figure } }],
      targets: [
        {
          what: `memory after ${minutes} minutes of full load, beside that after warm-up`,
          wanted: `at most +${percent(MOST_GROWTH)}`,
          figure,
          isMet: growth <= MOST_GROWTH,
        },
      ],
      tables: [
        {
          title: 'The two windows',
          columns: ['minutes', 'mean MiB', 'least', 'most'],
          rows: [
            [`${warmUp} to ${warmUp + minutes}`, first],
            [`${warmUp + minutes} to ${inAll}`, second],
          ].map(([when, of]) => [when, whole(mean(of)), whole(Math.min(...of)), whole(Math.max(...of))]),
        },
        {
          title: `${whole(result.calls)} calls, ${whole(result.rate)} a second`,
          columns: ['seconds', 'memory MiB'],
          rows: samples.flatMap((sample, index) =>
            index % every === every - 1
              ? [[`${((index + 1) * 60) / SAMPLES_PER_MINUTE}`, whole(sample)]]
              : [],
          ),
        },
      ],
      remarks: [
        `Compared are two windows of ${minutes} minutes, one after the other, after a warm-up of ${warmUp} minutes. V8 ` +
          'collects everything every five to eight minutes, and memory goes up until it does: a shorter window sees a part ' +
          'of a rise.',
      ],
    };
  },
};
