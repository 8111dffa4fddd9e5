// POST /observability/destinations beside pgbench's single-row inserts into the same database.
import { openService } from '../support/gateways.mjs';
import { prepareInserts } from '../support/plain-inserts.mjs';
import { cpuSeconds } from '../support/usage.mjs';
import {
  median,
  medianOf,
  medianRatio,
  milliseconds,
  percent,
  percentWithTenths,
  spread,
  valuesOf,
  whole,
} from '../support/statistics.mjs';

const CONNECTIONS = 50;
const LEAST = 0.25;
/** The maximum of one kind in a workspace. */
const PER_WORKSPACE = 5;
/** Like the calls of other gateways: until Node has compiled the code of a creation. */
const WARM_UP_WORKSPACES = { quick: 100, full: 1000 };
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

/** As many as the workspaces accept, each once; those of one workspace are far apart. */
async function createDestinations(testbed, service, count, round) {
  const workspaces = await createWorkspaces(service, count, round);
  const config = { url: `${testbed.sinkOrigin}/idle/` };
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
    seconds: null,
  });
  return { ...result, begunAt, cpu: ((cpuSeconds(service.pid) - before) * 1000) / result.calls };
}

const openOwn = (testbed, isQuick) =>
  testbed.progress.step('Starting: service', async () => {
    const service = await openService(testbed, { hasDestination: false });
    await createDestinations(testbed, service, WARM_UP_WORKSPACES[isQuick ? 'quick' : 'full'], 0);
    return service;
  });

export const destinations = {
  name: 'destinations',
  title: 'Creating destinations',
  async measure(testbed, { isQuick, seconds, rounds }) {
    const service = await openOwn(testbed, isQuick);
    const inserts = await prepareInserts(service.databaseUrl, testbed);
    const created = [];
    const inserted = [];
    await testbed.progress.step(`Creating destinations beside ${inserts.name}`, async () => {
      for (let round = 1; round <= rounds; round++) {
        inserted.push(await inserts.run({ connections: CONNECTIONS, seconds }));
        created.push(await createDestinations(testbed, service, isQuick ? 200 : 500, round));
      }
    });
    await service.stop();
    const rates = valuesOf(created, 'rate');
    const of = (part) => medianOf(created, part);
    const ratio = medianRatio(rates, inserted);
    return {
      targets: [
        {
          what: "destinations created a second, as a part of pgbench's single-row inserts",
          wanted: `at least ${percent(LEAST)}`,
          figure: percentWithTenths(ratio),
          isMet: ratio >= LEAST,
        },
      ],
      tables: [
        {
          title: `${CONNECTIONS} connections`,
          columns: ['what', 'a second', 'spread', 'p50', 'p99', 'CPU s per 1,000'],
          rows: [
            [inserts.name, whole(median(inserted)), percent(spread(inserted)), '', '', ''],
            [
              'POST /observability/destinations',
              whole(of('rate')),
              percent(spread(rates)),
              milliseconds(of('p50')),
              milliseconds(of('p99')),
              of('cpu').toFixed(3),
            ],
          ],
        },
      ],
      remarks: [
        'A plain insert is one row of the columns and indexes of `destinations`, one transaction each. A creation also checks ' +
          'its credential, its configuration and its address, encrypts the configuration, and writes a cursor and an audit entry.',
      ],
    };
  },
  async profile(testbed, { isQuick }) {
    return createDestinations(testbed, await openOwn(testbed, isQuick), 400, 1);
  },
};
