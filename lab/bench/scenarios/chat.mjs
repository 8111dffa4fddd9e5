// Streamed chats: time to the first token, chunks a second, gaps between chunks, and the memory of open streams.
import { CHAT_ENVIRONMENT, openService } from '../testbed/gateways.mjs';
import { alternately, chatJob, measureLoad, openGateways, summaryRow } from '../testbed/measuring.mjs';
import { memoryOfStreams } from '../testbed/stream-memory.mjs';
import {
  medianDifference,
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

const OTHERS = ['direct', 'pipe', 'peer'];
/** Short streams at the pace of a fast model: the first token is what is measured. */
const FIRST = { title: 'First token, 50 streams', stream: { chunks: 20, interval: 20 }, connections: 50 };
const FULL_SPEED = {
  title: 'Chunks a second, 50 streams at full speed',
  stream: { chunks: 400, interval: 0 },
  connections: 50,
};
const MANY = {
  title: '1,000 streams, a chunk every 200 ms',
  stream: { chunks: 15, interval: 200 },
  connections: 1_000,
};
const OPEN_STREAMS = { quick: [1_000], full: [1_000, 5_000] };

const MOST_ADDED_MS = 2;
const LEAST_OF_PIPE = 0.5;
const MOST_KIBIBYTES = 60;
const MOST_GAP = 2;
const WARM_UP = { full: { calls: 10_000, mostSeconds: 15 }, quick: { calls: 500, mostSeconds: 2 } };

const COLUMNS = [
  'gateway',
  'first token p50',
  'spread',
  'p50 added',
  'p99',
  'chunks/s',
  'spread',
  'of the bare pipe',
  'of the peer',
  'gap p50',
  'gap p99',
  'CPU s per 1,000 chunks',
];

async function measureStreams(
  testbed,
  gateways,
  { title, stream, connections },
  { seconds, rounds, isQuick },
) {
  const results = await alternately({
    rounds,
    rows: gateways,
    measureRow: async (gateway) => {
      const firstWarmUp = WARM_UP[isQuick ? 'quick' : 'full'];
      const job = { ...chatJob(gateway, stream), connections, seconds, firstWarmUp };
      const result = await measureLoad(testbed, gateway, job);
      return { ...result, cpuOfChunks: result.cpu / stream.chunks };
    },
  });
  const ofKind = (kind) => {
    const found = gateways.find((gateway) => gateway.kind === kind);
    return found && results.get(found);
  };
  const added = (all, part, base = ofKind('direct')) =>
    medianDifference(valuesOf(all, part), valuesOf(base, part));
  const ratio = (all, part, base) => base && medianRatio(valuesOf(all, part), valuesOf(base, part));
  const rows = gateways.map((gateway) => {
    const all = results.get(gateway);
    const isDirect = gateway.kind === 'direct';
    const ofPeer = ratio(all, 'rate', ofKind('peer'));
    return [
      gateway.name,
      milliseconds(medianOf(all, 'p50')),
      percent(spread(valuesOf(all, 'p50'))),
      isDirect ? '' : milliseconds(added(all, 'p50')),
      milliseconds(medianOf(all, 'p99')),
      whole(medianOf(all, 'rate')),
      percent(spread(valuesOf(all, 'rate'))),
      isDirect ? '' : percent(ratio(all, 'rate', ofKind('pipe'))),
      isDirect || ofPeer === undefined ? '' : times(ofPeer),
      milliseconds(medianOf(all, 'gapP50')),
      milliseconds(medianOf(all, 'gapP99')),
      gateway.pid === undefined ? '' : medianOf(all, 'cpuOfChunks').toFixed(4),
    ];
  });
  return {
    table: { title, columns: COLUMNS, rows },
    added,
    ratio,
    ofKind,
    row: (what, figureOf, { withDirect = false } = {}) =>
      summaryRow(
        what,
        gateways.filter(({ kind }) => withDirect || kind !== 'direct'),
        (gateway) => figureOf(results.get(gateway)),
      ),
  };
}

function targetsOf({ first, fast, many, memory }) {
  const service = (measured) => measured.ofKind('service');
  const abovePipe = first.added(service(first), 'p50', first.ofKind('pipe'));
  const ofPipe = fast.ratio(service(fast), 'rate', fast.ofKind('pipe'));
  const gaps = many.ratio(service(many), 'gapP99', many.ofKind('direct'));
  return [
    {
      what: 'p50 to the first token of 50 streams, above the bare pipe',
      wanted: `at most ${milliseconds(MOST_ADDED_MS)}`,
      figure: milliseconds(abovePipe),
      isMet: abovePipe <= MOST_ADDED_MS,
    },
    {
      what: "chunks/s of 50 streams at full speed, as a part of the bare pipe's",
      wanted: `at least ${percent(LEAST_OF_PIPE)}`,
      figure: percentWithTenths(ofPipe),
      isMet: ofPipe >= LEAST_OF_PIPE,
    },
    {
      what: "p99 gap between chunks of 1,000 streams, as a multiple of the upstream's",
      wanted: `at most ${times(MOST_GAP)}`,
      figure: times(gaps),
      isMet: gaps <= MOST_GAP,
    },
    ...memory.map(({ streams, kibibytes }) => ({
      what: `memory of an open stream, ${whole(streams)} of them`,
      wanted: `at most ${MOST_KIBIBYTES} KiB`,
      figure: `${kibibytes.service.toFixed(1)} KiB`,
      isMet: kibibytes.service <= MOST_KIBIBYTES,
    })),
  ];
}

const openForChats = (testbed) => openService(testbed, { environment: CHAT_ENVIRONMENT });

export const chat = {
  name: 'chat',
  title: 'Streamed chats',
  async measure(testbed, settings) {
    const others = await openGateways(testbed, OTHERS);
    const service = await testbed.progress.step('Starting: service', () => openForChats(testbed));
    const gateways = [...others, service];
    const step = (load, of = gateways) =>
      testbed.progress.step(`Chat: ${load.title}`, () => measureStreams(testbed, of, load, settings));
    const first = await step(FIRST);
    const fast = await step(FULL_SPEED);
    // Streams take three seconds each, whatever is asked for.
    const many = await step(MANY);
    const counts = OPEN_STREAMS[settings.isQuick ? 'quick' : 'full'];
    const memory = await testbed.progress.step('Chat: memory of open streams', () =>
      memoryOfStreams(testbed, counts),
    );
    return {
      summary: [
        first.row('p50 added to the first token, 50 streams', (all) => milliseconds(first.added(all, 'p50'))),
        first.row('p99 added to the first token, 50 streams', (all) => milliseconds(first.added(all, 'p99'))),
        fast.row('chunks/s, 50 streams at full speed', (all) => whole(medianOf(all, 'rate'))),
        fast.row('CPU s per 1,000 chunks, at full speed', (all) => medianOf(all, 'cpuOfChunks').toFixed(4)),
        many.row('p99 gap between chunks, 1,000 streams', (all) => milliseconds(medianOf(all, 'gapP99'))),
        many.row('CPU s per 1,000 chunks, 1,000 streams', (all) => medianOf(all, 'cpuOfChunks').toFixed(4)),
        ...memory.map(({ streams, kibibytes }) => ({
          what: `KiB of an open stream, ${whole(streams)} of them`,
          figures: { service: kibibytes.service.toFixed(1), pipe: kibibytes.pipe.toFixed(1) },
        })),
      ],
      targets: targetsOf({ first, fast, many, memory }),
      tables: [
        first.table,
        fast.table,
        many.table,
        {
          title: 'Memory of open streams',
          columns: ['gateway', 'streams', 'MiB before', 'MiB with them', 'KiB a stream'],
          rows: memory.flatMap(({ rows }) => rows),
        },
      ],
      remarks: [
        'A stream is 250 bytes a chunk, each of them a write of its own. At full speed the upstream gives every stream one ' +
          'chunk a turn; load, upstream and gateway share the cores, so that rates show how much one of them leaves to the others.',
        'The service sheds no load and has room for 10,000 streams.',
        'Every stream of this service reserves and settles money, and its record is committed before its end; the calls of ' +
          'the first and the last table are as many as the streams are short.',
        'Memory is measured after full collections, before the streams are opened and while all of them are open. The ' +
          "kernel's buffers of their sockets are not in it.",
      ],
    };
  },
  async profile(testbed, settings) {
    const gateway = await openForChats(testbed);
    const job = { ...chatJob(gateway, FULL_SPEED.stream), connections: FULL_SPEED.connections };
    return measureLoad(testbed, gateway, { ...job, seconds: settings.seconds, firstWarmUp: WARM_UP.full });
  },
};
