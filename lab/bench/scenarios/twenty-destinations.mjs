// The cost of twenty enabled destinations for a call: not measurable if deliveries are off its path.
import { openService } from '../testbed/gateways.mjs';
import { embeddingsJob, alternately, measureLoad } from '../testbed/measuring.mjs';
import {
  median,
  medianDifference,
  medianOf,
  milliseconds,
  percent,
  spread,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const CALL = { inputs: 1, format: 'base64', dimensions: 1536 };
const CONNECTIONS = 20;
const CALLS_PER_SECOND = 100;
const OF_EACH_KIND = 5;
/** Twice as long as elsewhere: at this rate a short round is a few hundred calls. */
const TIMES_AS_LONG = 2;
/** Enough rounds that neither the difference nor its noise is a coincidence. */
const LEAST_ROUNDS = 12;

const CONFIGS = {
  webhook: (url) => ({ url }),
  'otel-collector': (url) => ({ endpoint: url }),
  langfuse: (url) => ({ baseUrl: url, publicKey: 'pk-lf-bench', secretKey: 'sk-lf-bench-0123456789' }),
  grafana: (url) => ({ baseUrl: url, instanceId: '123456', apiKey: 'glc_bench_0123456789' }),
};

async function createTwenty(service, url) {
  const created = [];
  for (const [type, config] of Object.entries(CONFIGS))
    for (let count = 0; count < OF_EACH_KIND; count++)
      created.push(await service.createDestination(type, config(url), { enabled: false }));
  return created;
}

export const twentyDestinations = {
  name: 'twenty-destinations',
  title: 'Twenty destinations',
  settings: (given) => ({
    ...given,
    rounds: given.isQuick ? given.rounds : Math.max(given.rounds, LEAST_ROUNDS),
    seconds: given.seconds * TIMES_AS_LONG,
  }),
  async measure(testbed, { seconds, rounds }) {
    await testbed.setUpstreamDelay(0);
    const path = '/twenty/';
    const { service, all } = await testbed.progress.step(
      'Starting: service with twenty destinations',
      async () => {
        const opened = await openService(testbed, { hasDestination: false });
        return { service: opened, all: await createTwenty(opened, testbed.sinkOrigin + path) };
      },
    );
    let expected = 0;
    const settleFor = (enabled) => async (calls) => {
      expected += calls * enabled;
      await testbed.untilDelivered(path, expected);
    };
    const withEnabled = (enabled) => ({ ...service, enabled, settle: settleFor(enabled) });
    // Without destinations, before and after: the distance of these two is the noise of the machine.
    const [before, withAll, after] = [withEnabled(0), withEnabled(all.length), withEnabled(0)];
    const ways = [before, withAll, after];
    const measureRow = async (variant) => {
      for (const { id } of all)
        await service.manage('PATCH', `/observability/destinations/${id}`, { enabled: variant.enabled > 0 });
      const job = { ...embeddingsJob(service, CALL), connections: CONNECTIONS, rate: CALLS_PER_SECOND };
      return measureLoad(testbed, variant, { ...job, seconds });
    };
    const results = await testbed.progress.step('Calls with none and with twenty destinations', () =>
      alternately({ rounds, rows: ways, measureRow }),
    );
    await service.stop();
    const of = (variant, part) => medianOf(results.get(variant), part);
    const [p50sBefore, p50sWithAll, p50sAfter] = ways.map((variant) => valuesOf(results.get(variant), 'p50'));
    const middles = p50sBefore.map((p50, round) => (p50 + p50sAfter[round]) / 2);
    const added = medianDifference(p50sWithAll, middles);
    const noise = median(p50sBefore.map((p50, round) => Math.abs(p50sAfter[round] - p50)));
    return {
      summary: [{ what: 'p50 added by twenty destinations', figures: { service: milliseconds(added) } }],
      targets: [
        {
          what: 'p50 that twenty enabled destinations add to a call',
          wanted: `none beyond what two times without any differ by (${milliseconds(noise)})`,
          figure: milliseconds(added),
          isMet: added <= noise,
        },
      ],
      tables: [
        {
          title: `${CALLS_PER_SECOND} calls a second, open loop`,
          columns: [
            'enabled',
            'calls',
            'p50',
            'spread',
            'p99',
            'p99.9',
            'CPU s per 1,000 calls',
            'and its database',
          ],
          rows: ways.map((variant) => [
            variant === after ? `${variant.enabled} again` : `${variant.enabled}`,
            whole(of(variant, 'calls')),
            milliseconds(of(variant, 'p50')),
            percent(spread(valuesOf(results.get(variant), 'p50'))),
            milliseconds(of(variant, 'p99')),
            milliseconds(of(variant, 'p999')),
            of(variant, 'cpu').toFixed(3),
            of(variant, 'databaseCpu').toFixed(3),
          ]),
        },
      ],
      remarks: [
        'Webhooks, collectors, Langfuse and Grafana, five of each, all received by one process. They share the cores with the ' +
          'calls, so that what their deliveries cost the processor shows in the tails.',
        'Each round measures without any, with twenty and without any again: what is added is the distance of the second to ' +
          'the middle of the other two, and it is held against the distance of those two; both are medians over the rounds.',
      ],
    };
  },
};
