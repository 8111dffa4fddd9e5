// Streams of clients of every wire: where the provider speaks it, its bytes pass; else each event is translated. All take
// turns with the chat that passes from Chat to Chat.
import { withCatalogueFile } from '../../../test/support/catalogue/catalogue-file.ts';
import { promptOf, REPEATED_TEXTS } from '../load/chat-stream.mjs';
import { CHAT_ENVIRONMENT, openService } from '../testbed/gateways.mjs';
import { alternately, measureLoad, openGateways } from '../testbed/measuring.mjs';
import {
  medianOf,
  medianRatio,
  milliseconds,
  percent,
  spread,
  times,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const FIRST = { title: 'First token, 20 streams', stream: { chunks: 20, interval: 20 }, connections: 20 };
const FULL_SPEED = {
  title: 'Chunks a second, 20 streams at full speed',
  stream: { chunks: 400, interval: 0 },
  connections: 20,
};
const WARM_UP = { full: { calls: 3_000, mostSeconds: 10 }, quick: { calls: 300, mostSeconds: 3 } };
/** Turns are short: a moment of other work falls into few of them. */
const SHORT = 2;
/** Of the figures of Chat to Chat, where both sides have one wire. */
const LEAST_OF_CHAT = 0.8;

const PROVIDERS = {
  Chat: { slug: 'openai-compatible', peer: 'openai', wires: undefined },
  Messages: { slug: 'anthropic', peer: 'anthropic', wires: undefined },
  Responses: { slug: 'openai', peer: 'openai', wires: ['responses'] },
};
const modelOf = (provider) => `in-house/${provider.toLowerCase()}`;

const CLIENTS = {
  Chat: {
    path: 'chat/completions',
    bodyOf: (model, prompt, chunks) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: chunks,
      stream: true,
      stream_options: { include_usage: true },
    }),
  },
  Messages: {
    path: 'messages',
    bodyOf: (model, prompt, chunks) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      max_tokens: chunks,
      stream: true,
    }),
  },
  Responses: {
    path: 'responses',
    repeatedTexts: REPEATED_TEXTS,
    bodyOf: (model, prompt, chunks) => ({
      model,
      input: [{ role: 'user', content: prompt }],
      max_output_tokens: chunks,
      store: false,
      stream: true,
    }),
  },
};

const NAMES = Object.keys(CLIENTS);
/** The one that the others are compared with comes first. */
const PAIRS = NAMES.flatMap((client) => NAMES.map((provider) => ({ client, provider })));
/** Those that the other gateway offers. */
const PEER_PAIRS = [
  { client: 'Chat', provider: 'Chat' },
  { client: 'Messages', provider: 'Messages' },
  { client: 'Responses', provider: 'Responses' },
  { client: 'Chat', provider: 'Messages' },
];

const CATALOGUE = JSON.stringify({
  chat_models: NAMES.map((name) => {
    const { slug, wires } = PROVIDERS[name];
    return {
      id: modelOf(name),
      created_at: '2026-01-01',
      context_length: 100_000,
      endpoints: [
        {
          provider: slug,
          upstream_model: 'stub',
          supported_parameters: ['max_tokens'],
          data_policy: { retains_prompts: false, trains: false },
          prices: [
            {
              effective_from: '2020-01-01',
              source: 'the bench',
              usd_per_million_tokens: {
                prompt: 1,
                completion: 2,
                cache_read: 0.1,
                cache_write: 1.25,
                cache_write_1h: 2,
              },
            },
          ],
          ...(wires && { wires }),
        },
      ],
    };
  }),
});

const openForWires = (testbed) =>
  withCatalogueFile(CATALOGUE, (file) =>
    openService(testbed, {
      hasDestination: false,
      environment: {
        ...CHAT_ENVIRONMENT,
        CATALOGUE_FILE: file,
        ANTHROPIC_API_KEY: 'sk-ant-stub',
        ANTHROPIC_BASE_URL: testbed.upstreamOrigin,
        OPENAI_COMPATIBLE_BASE_URL: `${testbed.upstreamOrigin}/v1`,
      },
    }),
  );

function rowsOf(testbed, service, peer) {
  const base = ({ url }) => url.replace(/\/embeddings$/, '');
  return [
    ...PAIRS.map(({ client, provider }) => ({
      client,
      provider,
      gateway: service,
      base: base(service),
      headers: service.headers,
      model: modelOf(provider),
    })),
    ...(peer === undefined ? [] : PEER_PAIRS).map(({ client, provider }) => ({
      client,
      provider,
      gateway: peer,
      base: base(peer),
      headers: Object.assign({}, peer.headers, {
        'x-api-key': 'sk-ant-stub',
        'x-portkey-provider': PROVIDERS[provider].peer,
      }),
      model: 'stub',
    })),
  ];
}

const nameOf = ({ gateway, client, provider }) => `${gateway.name}: ${client} to ${provider}`;

function jobOf(row, { stream, connections }) {
  const { path, bodyOf, repeatedTexts } = CLIENTS[row.client];
  return {
    url: `${row.base}/${path}`,
    headers: row.headers,
    body: JSON.stringify(bodyOf(row.model, promptOf(stream), stream.chunks)),
    chunks: stream.chunks,
    repeatedTexts,
    spreadOver: stream.chunks * stream.interval,
    kind: `${nameOf(row)} ${stream.interval}`,
    connections,
  };
}

async function measureRows(testbed, rows, load, { rounds, seconds, isQuick }) {
  const results = await alternately({
    rounds: rounds * SHORT,
    rows,
    measureRow: async (row) => {
      const result = await measureLoad(testbed, row.gateway, {
        ...jobOf(row, load),
        seconds: seconds / SHORT,
        firstWarmUp: WARM_UP[isQuick ? 'quick' : 'full'],
      });
      return { ...result, cpuOfChunks: result.cpu / load.stream.chunks };
    },
  });
  const base = results.get(rows[0]);
  const ratio = (row, part) => medianRatio(valuesOf(results.get(row), part), valuesOf(base, part));
  return { load, results, ratio };
}

const COLUMNS = ['client to provider', 'first token p50', 'of Chat to Chat', 'spread', 'p99'];
const FAST_COLUMNS = [
  'client to provider',
  'chunks/s',
  'of Chat to Chat',
  'spread',
  'CPU s per 1,000 chunks',
  'of Chat to Chat',
];

function firstTable(rows, { load, results, ratio }) {
  return {
    title: load.title,
    columns: COLUMNS,
    rows: rows.map((row) => {
      const all = results.get(row);
      return [
        nameOf(row),
        milliseconds(medianOf(all, 'p50')),
        times(ratio(row, 'p50')),
        percent(spread(valuesOf(all, 'p50'))),
        milliseconds(medianOf(all, 'p99')),
      ];
    }),
  };
}

function fastTable(rows, { load, results, ratio }) {
  return {
    title: load.title,
    columns: FAST_COLUMNS,
    rows: rows.map((row) => {
      const all = results.get(row);
      return [
        nameOf(row),
        whole(medianOf(all, 'rate')),
        times(ratio(row, 'rate')),
        percent(spread(valuesOf(all, 'rate'))),
        medianOf(all, 'cpuOfChunks').toFixed(4),
        times(ratio(row, 'cpuOfChunks')),
      ];
    }),
  };
}

export const wires = {
  name: 'wires',
  title: 'Streams of every wire',
  async measure(testbed, settings) {
    const [peer] = await openGateways(testbed, ['peer']);
    const service = await testbed.progress.step('Starting: service', () => openForWires(testbed));
    const rows = rowsOf(testbed, service, peer);
    const step = (load) =>
      testbed.progress.step(`Wires: ${load.title}`, () => measureRows(testbed, rows, load, settings));
    const first = await step(FIRST);
    const fast = await step(FULL_SPEED);
    const passing = rows
      .filter((row) => row.gateway.kind === 'service' && row.client === row.provider)
      .slice(1);
    return {
      summary: rows
        .filter((row) => row.gateway.kind === 'service')
        .map((row) => {
          const other = rows.find(
            ({ gateway, client, provider }) =>
              gateway.kind === 'peer' && client === row.client && provider === row.provider,
          );
          const figure = (of) => whole(medianOf(fast.results.get(of), 'rate'));
          return {
            what: `chunks/s, 20 streams, ${row.client} to ${row.provider}`,
            figures: { service: figure(row), ...(other && { peer: figure(other) }) },
          };
        }),
      targets: passing.map((row) => {
        const ofChat = fast.ratio(row, 'rate');
        return {
          what: `chunks/s of ${row.client} to ${row.provider}, as a multiple of those of Chat to Chat`,
          wanted: `at least ${times(LEAST_OF_CHAT)}`,
          figure: times(ofChat),
          isMet: ofChat >= LEAST_OF_CHAT,
        };
      }),
      tables: [firstTable(rows, first), fastTable(rows, fast)],
      remarks: [
        `${rows.length} rows take turns, ${settings.rounds * SHORT} times. Ratios are medians over the turns.`,
        'This service has no destination here: deliveries have scenarios of their own.',
        'Events of the three wires have 250, 130 and 230 bytes. A response repeats its whole text in four events at its end.',
      ],
    };
  },
};
