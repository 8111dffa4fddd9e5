// Memory under full load for minutes: whether it stays where it is once everything is warm.
import { embeddingsJob, openGateways } from '../support/measuring.mjs';
import { median, percent, whole } from '../support/statistics.mjs';
import { memoryMebibytes } from '../support/usage.mjs';

const CALL = { inputs: 1, format: 'base64', dimensions: 1536 };
const CONNECTIONS = 50;
const MINUTES = 10;
const SAMPLE_MS = 5_000;
/** The first part of the time is warm-up; as much at the end is compared with as much after it. */
const PART = 0.15;
const MOST_GROWTH = 0.1;
const ROWS = 10;

async function sampleDuring(work, take) {
  const samples = [];
  const timer = setInterval(() => samples.push(take()), SAMPLE_MS);
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
  command: ({ minutes }) => `npm run bench -- --soak ${minutes}`,
  async measure(bed, { minutes }) {
    const [service] = await openGateways(bed, ['service']);
    await bed.setUpstreamDelay(0);
    const { result, samples } = await bed.progress.step(`Full load for ${minutes} min`, () =>
      sampleDuring(
        () =>
          bed.runLoad({ ...embeddingsJob(service, CALL), connections: CONNECTIONS, seconds: minutes * 60 }),
        () => memoryMebibytes(service.pid),
      ),
    );
    const length = Math.max(Math.round(samples.length * PART), 1);
    const warm = median(samples.slice(length, 2 * length));
    const last = median(samples.slice(-length));
    const growth = last / warm - 1;
    const every = Math.max(Math.floor(samples.length / ROWS), 1);
    return {
      targets: [
        {
          what: `memory after ${minutes} minutes of full load, beside that after warm-up`,
          wanted: `at most +${percent(MOST_GROWTH)}`,
          figure: `${growth < 0 ? '' : '+'}${percent(growth)}`,
          isMet: growth <= MOST_GROWTH,
        },
      ],
      tables: [
        {
          title: `${whole(result.calls)} calls, ${whole(result.rate)} a second`,
          columns: ['seconds', 'memory MiB'],
          rows: samples.flatMap((sample, index) =>
            index % every === every - 1 ? [[`${((index + 1) * SAMPLE_MS) / 1000}`, whole(sample)]] : [],
          ),
        },
      ],
      remarks: [
        `Compared are the medians of the last ${percent(PART)} of the time, and of as much after a warm-up of the same length.`,
      ],
    };
  },
};
