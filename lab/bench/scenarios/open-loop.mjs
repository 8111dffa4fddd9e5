// Open loop: latency under a fixed rate of calls, which shows tails.
import { compareLatencies } from '../testbed/latency-table.mjs';
import { COMPARED, embeddingsJob, alternately, measureLoad, openGateways } from '../testbed/measuring.mjs';
import { milliseconds, whole } from '../../support/statistics.ts';

const CALL = { inputs: 1, dimensions: 1536 };
const CONNECTIONS = 50;
const DELAYS = { base64: [0, 20, 60], float: [0] };
const QUICK_DELAYS = { base64: [20] };
const SUMMARY_DELAY = 20;
/** A part of the slowest gateway's capacity, so that every one of them can keep up. */
const PART_OF_SLOWEST = 0.5;
const PROBE_SECONDS = 1.5;

const jobOf = (gateway, format, more) => ({
  ...embeddingsJob(gateway, { ...CALL, format }),
  connections: CONNECTIONS,
  ...more,
});

async function slowestRate(testbed, gateways, format) {
  await testbed.setUpstreamDelay(0);
  const rates = [];
  for (const gateway of gateways) {
    const { rate } = await measureLoad(testbed, gateway, jobOf(gateway, format, { seconds: PROBE_SECONDS }));
    rates.push(rate);
  }
  return Math.min(...rates);
}

async function measureCase(testbed, gateways, { format, delay, rate }, { seconds, rounds }) {
  await testbed.setUpstreamDelay(delay);
  const results = await alternately({
    rounds,
    rows: gateways,
    measureRow: (gateway) => measureLoad(testbed, gateway, jobOf(gateway, format, { rate, seconds })),
  });
  const title = `${format}, ${whole(rate)} calls a second, the upstream answers after ${delay} ms`;
  const { table, addedRow } = compareLatencies(title, results);
  return { delay, table, row: addedRow(`p99 added at ${whole(rate)} calls/s, upstream ${delay} ms`, 'p99') };
}

export const openLoop = {
  name: 'open-loop',
  title: 'Latency, open loop',
  async measure(testbed, settings) {
    const gateways = await openGateways(testbed, ['direct', ...COMPARED]);
    const measured = [];
    for (const [format, delays] of Object.entries(settings.isQuick ? QUICK_DELAYS : DELAYS)) {
      const rate = await testbed.progress.step(`Open loop: what the slowest can do, ${format}`, async () =>
        Math.round(PART_OF_SLOWEST * (await slowestRate(testbed, gateways, format))),
      );
      for (const delay of delays) {
        const title = `Open loop: ${format}, upstream ${delay} ms, ${whole(rate)} a second`;
        const measure = () => measureCase(testbed, gateways, { format, delay, rate }, settings);
        measured.push(await testbed.progress.step(title, measure));
      }
    }
    return {
      summary: measured.filter(({ delay }) => delay === SUMMARY_DELAY).map(({ row }) => row),
      targets: [],
      tables: measured.map(({ table }) => table),
      remarks: [
        `The rate is half of what the slowest gateway answers in a closed loop, found in the same run. Calls are sent by a ` +
          `timer of a millisecond and timed from the moment that they were due: up to ${milliseconds(1)} of every row, the ` +
          'first included, is the wait for that timer.',
      ],
    };
  },
};
