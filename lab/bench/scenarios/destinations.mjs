// POST /observability/destinations at a fixed rate, as an operator's automation creates them.
import { openService } from '../testbed/gateways.mjs';
import { cpuSeconds } from '../testbed/usage.mjs';
import { medianOf, milliseconds, percent, spread, valuesOf, whole } from '../../support/statistics.ts';

const CONNECTIONS = 10;
const PER_SECOND = 50;
const MOST_P99_MS = 50;
/** Longer than elsewhere: at this rate a short round has too few calls for a 99th percentile. */
const TIMES_AS_LONG = 4;
/** The maximum of one kind in a workspace. */
const PER_WORKSPACE = 5;
/** Like the calls of other gateways: until Node has compiled the code of a creation. */
const WARM_UP_CREATIONS = { quick: 500, full: 5000 };
const AT_ONCE = 20;

async function createWorkspaces(service, count, round) {
  const ids = [];
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - ids.length) }, (_, index) => {
      const slug = `bench-${round}-${ids.length + index}`;
      return service.manage('POST', '/workspaces', { name: slug, slug });
    });
    for (const { data } of await Promise.all(batch)) ids.push(data.id);
  }
  return ids;
}

/** `count` destinations, those of one workspace far apart; at a fixed rate or, for a null rate, as fast as possible. */
async function createDestinations(testbed, service, { count, rate, round }) {
  const workspaces = await createWorkspaces(service, Math.ceil(count / PER_WORKSPACE), round);
  const config = { url: `${testbed.sinkOrigin}/unused/` };
  const bodies = Array.from({ length: PER_WORKSPACE }, (_, slot) =>
    workspaces.map((id) =>
      JSON.stringify({ type: 'webhook', name: `Bench ${slot}`, config, workspace_id: id }),
    ),
  ).flat();
  const before = cpuSeconds(service.pid);
  const begunAt = process.hrtime.bigint();
  const result = await testbed.runLoad({
    url: `${service.baseUrl}/observability/destinations`,
    headers: { authorization: `Bearer ${service.managementKey}` },
    bodies,
    status: 201,
    connections: CONNECTIONS,
    ...(rate === null ? { seconds: null } : { rate, seconds: count / rate }),
  });
  return { ...result, begunAt, cpu: ((cpuSeconds(service.pid) - before) * 1000) / result.calls };
}

const openOwn = (testbed, isQuick) =>
  testbed.progress.step('Starting: service', async () => {
    const service = await openService(testbed, { hasDestination: false });
    const count = WARM_UP_CREATIONS[isQuick ? 'quick' : 'full'];
    await createDestinations(testbed, service, { count, rate: null, round: 0 });
    return service;
  });

export const destinations = {
  name: 'destinations',
  title: 'Creating destinations',
  settings: (given) => ({ ...given, seconds: given.seconds * TIMES_AS_LONG }),
  async measure(testbed, { isQuick, seconds, rounds }) {
    const service = await openOwn(testbed, isQuick);
    const created = [];
    await testbed.progress.step(`Creating ${PER_SECOND} destinations a second`, async () => {
      const count = PER_SECOND * seconds;
      for (let round = 1; round <= rounds; round++)
        created.push(await createDestinations(testbed, service, { count, rate: PER_SECOND, round }));
    });
    await service.stop();
    const of = (part) => medianOf(created, part);
    return {
      summary: [
        { what: `p99 of ${PER_SECOND} creations a second`, figures: { service: milliseconds(of('p99')) } },
      ],
      targets: [
        {
          what: `p99 of creating a destination, ${PER_SECOND} a second`,
          wanted: `at most ${milliseconds(MOST_P99_MS)}`,
          figure: milliseconds(of('p99')),
          isMet: of('p99') <= MOST_P99_MS,
        },
      ],
      tables: [
        {
          title: `${PER_SECOND} a second, open loop`,
          columns: ['calls', 'p50', 'spread', 'p99', 'CPU s per 1,000'],
          rows: [
            [
              whole(of('calls')),
              milliseconds(of('p50')),
              percent(spread(valuesOf(created, 'p50'))),
              milliseconds(of('p99')),
              of('cpu').toFixed(3),
            ],
          ],
        },
      ],
      remarks: [
        'A creation checks its credential, its configuration and its address, encrypts the configuration, and writes a ' +
          'destination, a cursor and an audit entry.',
      ],
    };
  },
  async profile(testbed, { isQuick }) {
    return createDestinations(testbed, await openOwn(testbed, isQuick), {
      count: 2000,
      rate: null,
      round: 1,
    });
  },
};
