// One connection: the latency that a gateway adds to a single call on an idle machine.
import { compareLatencies } from '../testbed/latency-table.mjs';
import { COMPARED, embeddingsJob, alternately, measureLoad, openGateways } from '../testbed/measuring.mjs';
import { milliseconds } from '../../support/statistics.ts';

const CALL = { inputs: 1, dimensions: 1536 };
/** Cases that a quick run skips. */
const SLOWER_CASES = [
  { format: 'base64', delay: 20 },
  { format: 'base64', delay: 60 },
  { format: 'float', delay: 0 },
];
const WANTED_MS = 0.5;

const jobOf = (gateway, format, seconds) => ({
  ...embeddingsJob(gateway, { ...CALL, format }),
  connections: 1,
  seconds,
});

async function measureDelay(testbed, gateways, { format, delay }, { seconds, rounds }) {
  await testbed.setUpstreamDelay(delay);
  const results = await alternately({
    rounds,
    rows: gateways,
    measureRow: (gateway) => measureLoad(testbed, gateway, jobOf(gateway, format, seconds)),
  });
  return compareLatencies(`${format}, the upstream answers after ${delay} ms`, results);
}

export const latency = {
  name: 'latency',
  title: 'Latency, one connection',
  async measure(testbed, settings) {
    const gateways = await openGateways(testbed, ['direct', ...COMPARED]);
    const cases = [{ format: 'base64', delay: 0 }, ...(settings.isQuick ? [] : SLOWER_CASES)];
    const measured = [];
    for (const each of cases) {
      const title = `Latency: ${each.format}, upstream ${each.delay} ms`;
      measured.push(
        await testbed.progress.step(title, () => measureDelay(testbed, gateways, each, settings)),
      );
    }
    const [atOnce] = measured;
    const above = atOnce.added('service', 'p50') - atOnce.added('pipe', 'p50');
    return {
      summary: [atOnce.addedRow('p50 added to one connection', 'p50')],
      targets: [
        {
          what: 'p50 added to one connection, above what the bare pipe adds',
          wanted: `at most ${milliseconds(WANTED_MS)}`,
          figure: milliseconds(above),
          isMet: above <= WANTED_MS,
        },
      ],
      tables: measured.map(({ table }) => table),
      remarks: [
        'Added: the percentile through the gateway less that of the same round without one. Where the upstream takes its ' +
          'time a few hundred calls are all there is; tails are better read in the open loop.',
      ],
    };
  },
  async profile(testbed, settings) {
    const [gateway] = await openGateways(testbed, ['service']);
    await testbed.setUpstreamDelay(0);
    return measureLoad(testbed, gateway, jobOf(gateway, 'base64', settings.seconds));
  },
};
