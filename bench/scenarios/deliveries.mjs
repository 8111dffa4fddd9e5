// The rate at which a backlog drains to one OTLP receiver, and its processor cost.
import { openService } from '../support/gateways.mjs';
import { embeddingsJob } from '../support/measuring.mjs';
import { medianOf, percent, spread, valuesOf, whole } from '../support/statistics.mjs';
import { cpuSeconds } from '../support/usage.mjs';

const CALL = { inputs: 1, format: 'base64', dimensions: 384 };
const CONNECTIONS = 50;
const LEAST = 10_000;
const BACKLOG = { quick: 15_000, full: 50_000 };

/** Fills the log of a service without destinations. */
async function openBacklog(testbed, least) {
  const since = new Date(Date.now() - 1000).toISOString();
  const service = await testbed.progress.step('Starting: service', () =>
    openService(testbed, { hasDestination: false }),
  );
  await testbed.setUpstreamDelay(0);
  let events = service.firstCalls;
  await testbed.progress.step('Filling the log', async () => {
    while (events < least) {
      const job = { ...embeddingsJob(service, CALL), connections: CONNECTIONS, seconds: 1 };
      events += (await testbed.runLoad(job)).calls;
    }
  });
  return { service, since, events };
}

/** A replay to a new destination delivers everything again; the receiver reports the end. */
async function drain(testbed, { service, since, events }, round) {
  const path = `/drained/${round}/`;
  const { id } = await service.createDestination('otel-collector', { endpoint: testbed.sinkOrigin + path });
  const route = `/observability/destinations/${id}`;
  const usage = () => ({ service: cpuSeconds(service.pid), database: cpuSeconds(service.databasePid) });
  const before = usage();
  const begunAt = process.hrtime.bigint();
  await service.manage('POST', `${route}/replay`, { from: since });
  await testbed.untilDelivered(path, events);
  const seconds = Number(process.hrtime.bigint() - begunAt) / 1e9;
  const after = usage();
  await service.manage('DELETE', route);
  return {
    begunAt,
    events,
    perSecond: events / seconds,
    perCore: events / (after.service - before.service),
    perDatabaseCore: events / (after.database - before.database),
  };
}

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
