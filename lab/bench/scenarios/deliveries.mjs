// The rate at which a backlog drains to one OTLP receiver, and its processor cost.
import { drain, openBacklog } from '../testbed/backlog.mjs';
import { medianOf, percent, spread, valuesOf, whole } from '../../support/statistics.ts';

const LEAST = 10_000;
const BACKLOG = { quick: 15_000, full: 50_000 };

export const deliveries = {
  name: 'deliveries',
  title: 'Draining the log to one OTLP receiver',
  async measure(testbed, { isQuick, rounds }) {
    const backlog = await openBacklog(testbed, isQuick ? BACKLOG.quick : BACKLOG.full);
    // Not counted: code that has not been translated yet.
    await testbed.progress.step('Draining once to warm up', () => drain(testbed, backlog, 0));
    const results = await testbed.progress.step(`Draining ${whole(backlog.events)} events`, async () => {
      const all = [];
      for (let round = 1; round <= rounds; round++) all.push(await drain(testbed, backlog, round));
      return all;
    });
    await backlog.service.stop();
    const of = (part) => medianOf(results, part);
    return {
      summary: [{ what: 'events delivered a second and core', figures: { service: whole(of('perCore')) } }],
      targets: [
        {
          what: 'events drained a second and core, to one OTLP receiver',
          wanted: `at least ${whole(LEAST)}`,
          figure: whole(of('perCore')),
          isMet: of('perCore') >= LEAST,
        },
      ],
      tables: [
        {
          title: `A backlog of ${whole(backlog.events)} events`,
          columns: [
            "per CPU second of the service's",
            'spread',
            "per CPU second of the database's",
            'per second',
          ],
          rows: [
            [
              whole(of('perCore')),
              percent(spread(valuesOf(results, 'perCore'))),
              whole(of('perDatabaseCore')),
              whole(of('perSecond')),
            ],
          ],
        },
      ],
      remarks: ['The receiver is a process of its own on the same cores, and takes everything at once.'],
    };
  },
  async profile(testbed) {
    const backlog = await openBacklog(testbed, BACKLOG.quick);
    await drain(testbed, backlog, 0);
    return drain(testbed, backlog, 1);
  },
};
