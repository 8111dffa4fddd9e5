// Closed loop: calls a second of each gateway, for every kind of call.
import {
  COMPARED,
  embeddingsJob,
  alternately,
  measureLoad,
  openGateways,
  shorterRounds,
  summaryRow,
} from '../testbed/measuring.mjs';
import {
  medianOf,
  medianRatio,
  milliseconds,
  percent,
  percentWithTenths,
  spread,
  times,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const CONNECTIONS = { 1: 50, 100: 10 };
/** The calls of a quick run and of the summary. */
const QUICK_CALLS = new Set(['1-base64-1536', '1-float-1536', '100-base64-1536']);
/** The call whose processor time and memory are in the summary. */
const DETAILED_CALL = '1-base64-1536';
const COLUMNS = [
  'gateway',
  'calls/s',
  'spread',
  'of the bare pipe',
  'of the peer',
  'p50',
  'p99',
  'CPU s per 1,000 calls',
  'and its database',
  'memory MiB',
];

const nameOf = ({ inputs, format, dimensions }) => `${inputs}-${format}-${dimensions}`;
const describe = ({ inputs, format, dimensions }) =>
  `${inputs} input${inputs === 1 ? '' : 's'}, ${format}, ${dimensions} dimensions`;

function callsOf({ isQuick, calls }) {
  const all = [1, 100].flatMap((inputs) =>
    ['base64', 'float'].flatMap((format) =>
      [384, 1536, 3072].map((dimensions) => ({ inputs, format, dimensions })),
    ),
  );
  if (calls !== undefined) return all.filter((call) => calls.includes(nameOf(call)));
  return isQuick ? all.filter((call) => QUICK_CALLS.has(nameOf(call))) : all;
}

const jobOf = (gateway, call, seconds) => ({
  ...embeddingsJob(gateway, call),
  connections: CONNECTIONS[call.inputs],
  seconds,
});

async function measureCall(testbed, gateways, call, { seconds, rounds }) {
  const results = await alternately({
    rounds,
    rows: gateways,
    measureRow: (gateway) => measureLoad(testbed, gateway, jobOf(gateway, call, seconds)),
  });
  const ofKind = (kind) => gateways.find((candidate) => candidate.kind === kind);
  const ratesOf = (gateway) => valuesOf(results.get(gateway), 'rate');
  const ratio = (gateway, other) =>
    other === undefined ? undefined : medianRatio(ratesOf(gateway), ratesOf(other));
  const toPipe = (gateway) => ratio(gateway, ofKind('pipe'));
  const toPeer = (gateway) => ratio(gateway, ofKind('peer'));
  const rows = gateways.map((gateway) => {
    const of = (part) => medianOf(results.get(gateway), part);
    const isUsed = gateway.pid !== undefined;
    const ofPipe = toPipe(gateway);
    const ofPeer = toPeer(gateway);
    return [
      gateway.name,
      whole(of('rate')),
      percent(spread(ratesOf(gateway))),
      ofPipe === undefined ? '' : percent(ofPipe),
      ofPeer === undefined ? '' : times(ofPeer),
      milliseconds(of('p50')),
      milliseconds(of('p99')),
      isUsed ? of('cpu').toFixed(3) : '',
      gateway.databasePid === undefined ? '' : of('databaseCpu').toFixed(3),
      isUsed ? whole(of('memory')) : '',
    ];
  });
  return {
    call,
    summary: summaryOf(call, gateways, results),
    table: { title: `${describe(call)}, ${CONNECTIONS[call.inputs]} connections`, columns: COLUMNS, rows },
    toPipe: toPipe(ofKind('service')),
    toPeer: toPeer(ofKind('service')),
  };
}

function summaryOf(call, gateways, results) {
  if (!QUICK_CALLS.has(nameOf(call))) return [];
  const row = (what, figureOf) =>
    summaryRow(`${what}, ${describe(call)}`, gateways, (gateway) => figureOf(results.get(gateway)));
  const rates = row('calls/s', (rounds) => whole(medianOf(rounds, 'rate')));
  if (nameOf(call) !== DETAILED_CALL) return [rates];
  return [
    rates,
    row('CPU s per 1,000 calls', (rounds) => medianOf(rounds, 'cpu').toFixed(3)),
    row('memory MiB', (rounds) => whole(medianOf(rounds, 'memory'))),
  ];
}

const LEAST_OF_PEER = { '1-base64-1536': 5, '1-float-1536': 6, '100-base64-1536': 5 };
const LEAST_OF_PIPE = { '1-base64-1536': 0.45 };

function targetsOf({ call, toPipe, toPeer }) {
  const ofPeer = LEAST_OF_PEER[nameOf(call)];
  const ofPipe = LEAST_OF_PIPE[nameOf(call)];
  return [
    ...(ofPeer === undefined || toPeer === undefined
      ? []
      : [
          {
            what: `calls/s, ${describe(call)}, as a multiple of the peer's`,
            wanted: `at least ${times(ofPeer)}`,
            figure: times(toPeer),
            isMet: toPeer >= ofPeer,
          },
        ]),
    ...(ofPipe === undefined
      ? []
      : [
          {
            what: `calls/s, ${describe(call)}, as a part of the bare pipe's`,
            wanted: `at least ${percent(ofPipe)}`,
            figure: percentWithTenths(toPipe),
            isMet: toPipe >= ofPipe,
          },
        ]),
  ];
}

export const throughput = {
  name: 'throughput',
  title: 'Throughput, closed loop',
  settings: shorterRounds,
  async measure(testbed, settings) {
    const gateways = await openGateways(testbed, COMPARED);
    await testbed.setUpstreamDelay(0);
    const measured = [];
    for (const call of callsOf(settings)) {
      const title = `Throughput: ${describe(call)}`;
      measured.push(await testbed.progress.step(title, () => measureCall(testbed, gateways, call, settings)));
    }
    return {
      summary: measured.flatMap(({ summary }) => summary),
      targets: measured.flatMap(targetsOf),
      tables: measured.map(({ table }) => table),
      remarks: [
        'Each connection sends its next call when the last one is answered; the upstream answers at once.',
        'Multiples and parts are medians of those of each round, whose gateways have had the machine one right after the other.',
        "CPU counts until every call has reached the webhook destination as well, and the other gateway's has nothing of the kind.",
      ],
    };
  },
  /** The load to profile. */
  async profile(testbed, settings) {
    const [gateway] = await openGateways(testbed, ['service']);
    const [call] = callsOf({ calls: ['1-base64-1536'], ...settings });
    await testbed.setUpstreamDelay(0);
    return measureLoad(testbed, gateway, jobOf(gateway, call, settings.seconds));
  },
};
