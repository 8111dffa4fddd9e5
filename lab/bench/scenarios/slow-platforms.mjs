// The rate at which a backlog drains to a platform that takes its time, with one request in flight and with several, and
// with two processes at once: the most that two cursors of one destination could gain.
import { drain, openBacklog } from '../testbed/backlog.mjs';
import { median, medianRatio, percent, spread, times, valuesOf, whole } from '../../support/statistics.ts';

const BACKLOG = 4_000;
const KINDS = ['webhook', 'otel-collector'];
/** Milliseconds until the platform answers. */
const DELAYS = [0, 20, 50, 100];
const LEAST_RATIO = 1.7;
// A refusal while the log is filled would end the run.
const ENVIRONMENT = { MAX_EVENT_LOOP_DELAY_MS: '0' };
const ONE_IN_FLIGHT = { ...ENVIRONMENT, DELIVERY_REQUESTS_IN_FLIGHT: '1' };

async function measureRow(testbed, { one, other, several }, { kind, delay, round }) {
  await testbed.setSinkDelay(delay);
  const name = (part) => `${kind}-${delay}-${round}-${part}`;
  const single = await drain(testbed, one, name('one'), kind);
  const parallel = await drain(testbed, several, name('several'), kind);
  const both = await Promise.all([
    drain(testbed, one, name('first'), kind),
    drain(testbed, other, name('second'), kind),
  ]);
  // The slower of the two: a destination has its backlog behind it when both cursors have.
  return {
    single: single.perSecond,
    several: parallel.perSecond,
    twoProcesses: 2 * Math.min(...valuesOf(both, 'perSecond')),
  };
}

export const slowPlatforms = {
  name: 'slow-platforms',
  title: 'Draining the log to a platform that takes its time',
  async measure(testbed, { rounds }) {
    const backlogs = {
      one: await openBacklog(testbed, BACKLOG, ONE_IN_FLIGHT),
      other: await openBacklog(testbed, BACKLOG, ONE_IN_FLIGHT),
      several: await openBacklog(testbed, BACKLOG, ENVIRONMENT),
    };
    const rows = KINDS.flatMap((kind) => DELAYS.map((delay) => ({ kind, delay, results: [] })));
    await testbed.progress.step('Draining once to warm up', () =>
      measureRow(testbed, backlogs, { kind: 'webhook', delay: 0, round: 0 }),
    );
    await testbed.progress.step('Draining in turns', async () => {
      for (let round = 1; round <= rounds; round++) {
        for (const row of rows) row.results.push(await measureRow(testbed, backlogs, { ...row, round }));
      }
    });
    for (const { service } of Object.values(backlogs)) await service.stop();
    const ratioOf = (results, part) => medianRatio(valuesOf(results, part), valuesOf(results, 'single'));
    const { results } = rows.find(({ kind, delay }) => kind === 'webhook' && delay === 50);
    const ratio = ratioOf(results, 'several');
    return {
      summary: [
        {
          what: 'events a second to a webhook that takes 50 ms',
          figures: { service: whole(median(valuesOf(results, 'several'))) },
        },
      ],
      targets: [
        {
          what: 'events drained a second to a webhook that takes 50 ms, as a multiple of those with one request in flight',
          wanted: `at least ${times(LEAST_RATIO)}`,
          figure: times(ratio),
          isMet: ratio >= LEAST_RATIO,
        },
      ],
      tables: [
        {
          title: 'Events a second',
          columns: [
            'kind',
            'answers after',
            'one in flight',
            'spread',
            'several in flight',
            'ratio',
            'two processes',
            'ratio',
          ],
          rows: rows.map(({ kind, delay, results: all }) => [
            kind,
            `${delay} ms`,
            whole(median(valuesOf(all, 'single'))),
            percent(spread(valuesOf(all, 'single'))),
            whole(median(valuesOf(all, 'several'))),
            times(ratioOf(all, 'several')),
            whole(median(valuesOf(all, 'twoProcesses'))),
            times(ratioOf(all, 'twoProcesses')),
          ]),
        },
      ],
      remarks: [
        'Two processes drain two logs of the same length, each with one request in flight: what two cursors of one destination could reach at most, without their cost of reading the same log twice.',
      ],
    };
  },
};
