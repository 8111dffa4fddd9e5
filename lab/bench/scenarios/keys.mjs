// GET /keys/{hash} beside a bare Nest route that answers with the same record.
import { alternately, measureLoad, openGateways, shorterRounds, summaryRow } from '../testbed/measuring.mjs';
import {
  medianOf,
  medianRatio,
  milliseconds,
  percent,
  percentWithTenths,
  spread,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const CONNECTIONS = 50;
const LEAST = 0.6;

const jobOf = ({ url, headers }, seconds) => ({
  url,
  headers,
  method: 'GET',
  bodies: [''],
  connections: CONNECTIONS,
  seconds,
});

/** The service under another address: its calls reach no destination. */
const readingOf = (service) => ({
  kind: service.kind,
  name: 'GET /keys/{hash}',
  url: `${service.baseUrl}/keys/${service.keyHash}`,
  headers: { authorization: `Bearer ${service.managementKey}` },
  pid: service.pid,
  databasePid: service.databasePid,
});

export const keys = {
  name: 'keys',
  title: 'Reading a key',
  settings: shorterRounds,
  async measure(testbed, { seconds, rounds }) {
    const [service] = await openGateways(testbed, ['service']);
    const record = await service.manage('GET', `/keys/${service.keyHash}`);
    const bare = await testbed.startChild('nest-process.mjs', { RECORD: JSON.stringify(record) });
    const own = readingOf(service);
    const other = {
      kind: 'nest',
      name: 'bare Nest route',
      url: `${bare.message.origin}/keys/${service.keyHash}`,
      headers: own.headers,
      pid: bare.process.pid,
    };
    const results = await testbed.progress.step('Reading a key beside a bare route', () =>
      alternately({
        rounds,
        rows: [other, own],
        measureRow: (route) => measureLoad(testbed, route, jobOf(route, seconds)),
      }),
    );
    await bare.stop();
    const of = (route, part) => medianOf(results.get(route), part);
    const ratesOf = (route) => valuesOf(results.get(route), 'rate');
    const ratio = medianRatio(ratesOf(own), ratesOf(other));
    return {
      summary: [summaryRow('GET /keys/{hash} a second', [own, other], (route) => whole(of(route, 'rate')))],
      targets: [
        {
          what: "GET /keys/{hash}, as a part of a bare Nest route's calls/s",
          wanted: `at least ${percent(LEAST)}`,
          figure: percentWithTenths(ratio),
          isMet: ratio >= LEAST,
        },
      ],
      tables: [
        {
          title: `${CONNECTIONS} connections`,
          columns: ['route', 'calls/s', 'spread', 'p50', 'p99', 'CPU s per 1,000 calls', 'and its database'],
          rows: [other, own].map((route) => [
            route.name,
            whole(of(route, 'rate')),
            percent(spread(ratesOf(route))),
            milliseconds(of(route, 'p50')),
            milliseconds(of(route, 'p99')),
            of(route, 'cpu').toFixed(3),
            route.databasePid === undefined ? '' : of(route, 'databaseCpu').toFixed(3),
          ]),
        },
      ],
      remarks: ['The bare route has no credential to check and no database to query.'],
    };
  },
  async profile(testbed, settings) {
    const [service] = await openGateways(testbed, ['service']);
    return measureLoad(testbed, readingOf(service), jobOf(readingOf(service), settings.seconds));
  },
};
