// Which columns of each platform a delivery fills, and the table of them in docs/destinations.md.
import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import type { Operation } from '../../src/domain/generations/generation.js';
import { plainText } from '../../src/destination-kinds/shared/chat-forms.js';
import { bareModelName } from '../../src/destination-kinds/shared/trace-json.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { COLUMN_NAMES, platformColumns } from '../support/receivers/columns.js';
import type { ColumnName } from '../support/receivers/columns.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { TRACE_CASES } from '../support/deliveries/trace-cases.js';

const PAGE = new URL('../../docs/destinations.md', import.meta.url);
// Characters of an input that every platform shows at least.
const SHOWN_INPUT = 100;

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Platforms without a type for rerank show it as a span or a call of a model. */
const TYPES: Readonly<Record<Operation, RegExp>> = {
  embeddings: /^(.*embedding.*|llm|generation)$/i,
  chat: /^(.*chat|llm|\$ai_generation|generation)$/i,
  rerank: /^(.*rerank.*|retriev(er|al)|task|llm|generation|(\$ai_)?span)$/i,
};

/** Whether a column shows the fact of the trace; null: the trace has no such fact. */
const SHOWS: Readonly<Record<ColumnName, (trace: GenerationTrace) => ((value: unknown) => boolean) | null>> =
  {
    type:
      ({ operation }) =>
      (value) =>
        TYPES[operation].test(asText(value)),
    model: (trace) => (value) => asText(value).endsWith(bareModelName(trace)),
    provider: ({ provider }) => (provider === null ? null : (value) => asText(value).includes(provider)),
    // Failed calls have no tokens.
    tokens: ({ totalTokens, error }) => (error ? null : (value) => Number(value) === totalTokens),
    // A platform that takes no cost computes its own, for names that it knows.
    cost: (trace) => {
      const { cost } = trace;
      return cost === null ? null : (value) => Number(value) === cost || value === bareModelName(trace);
    },
    user: ({ userId }) => (userId === null ? null : (value) => value === userId),
    session: ({ sessionId }) => (sessionId === null ? null : (value) => value === sessionId),
    input: ({ input, chat }) => {
      if (chat !== null)
        return chat.content && showsText(plainText(chat.content.messages.at(-1)?.content ?? null));
      const first = input?.items[0];
      if (first === undefined || first.length === 0) return null;
      const beginning = typeof first === 'string' ? first.slice(0, SHOWN_INPUT) : first.join();
      return (value) => asText(value).replaceAll('\\', '').includes(beginning.toWellFormed());
    },
    output: ({ error, inputCount, chat, rerank }) => {
      if (chat !== null) {
        const [answer] = chat.content?.choices ?? [];
        return answer ? showsText(answer.content ?? answer.toolCalls[0]?.name ?? '') : null;
      }
      if (error) return null;
      const shown = rerank?.content ? (rerank.content.results[0]?.score ?? '') : inputCount;
      return (value) => asText(value).includes(String(shown));
    },
    error: ({ error }) => {
      if (error === null) return null;
      const [beginning = ''] = (error.message ?? error.type).split('\n');
      return (value) => asText(value).includes(beginning);
    },
  };

function showsText(text: string): (value: unknown) => boolean {
  const beginning = text.slice(0, SHOWN_INPUT).replaceAll(/[\\"]/g, '');
  return (value) => asText(value).replaceAll(/[\\"]/g, '').includes(beginning);
}

// Their content is longer than some platforms take: it is cut, and marked as cut.
const isLong = (name: string): boolean => /^256 KiB|thousand messages$/.test(name);
const CASES = Object.keys(TRACE_CASES).filter((name) => !isLong(name));
// U+0000 and lone surrogates are replaced, where the platform cannot hold them.
const ODD_TEXTS = new Set([
  'texts of all the world',
  'half an emoji at every place',
  'a chat with texts of all the world',
]);

describe.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
  '$type',
  ({ type, receiver }) => {
    const { places, shown } = platformColumns(type);
    const delivering = deliveringTo(receiver);

    it.each(CASES)('leaves no column blank that the call can fill: %s', async (name) => {
      const trace = generationTrace(1, TRACE_CASES[name]);
      const [columns] = shown(await encode(delivering, [trace]), trace.operation);
      for (const column of COLUMN_NAMES) {
        const found = places[trace.operation][column];
        if (found === null) continue;
        const shows = SHOWS[column](trace);
        const value = columns?.get(column);
        if (shows && !isFilled(value)) throw new Error(`${column} (${found.place}) is blank`);
        if (shows && !ODD_TEXTS.has(name) && !shows(value))
          throw new Error(`${column} (${found.place}) shows ${asText(value)}`);
      }
    });

    it('keeps three calls of one trace apart, and names each', async () => {
      const traces = [1, 2, 3].map((number) =>
        generationTrace(number, {
          traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
          parentSpanId: '00f067aa0ba902b7',
          spanName: 'embed-query',
        }),
      );
      const requests = await encode(delivering, traces);
      expect(shown(requests, 'embeddings')).toHaveLength(3);
      const text = requests.map(({ body }) => body?.toString()).join('\n');
      for (const { generationId } of traces) expect(text).toContain(generationId.replaceAll('-', ''));
      expect(text.match(/embed-query/g)?.length).toBeGreaterThanOrEqual(3);
      // The trace and the parent of the caller can be found, as ids or as metadata.
      expect(text).toContain('4bf92f3577b34da6a3ce929d0e0e4736');
      if (type !== 'opik') expect(text).toContain('00f067aa0ba902b7');
    });
  },
);

it('the table in docs/destinations.md is the columns that the platforms show', async () => {
  const page = await readFile(PAGE, 'utf8');
  const placeOf = (type: string, operation: Operation, name: ColumnName): string => {
    const found = platformColumns(type).places[operation][name];
    if (found === null) return '—';
    return found.isOwn || found.place.includes('`') ? found.place : `\`${found.place}\``;
  };
  const cellOf = (type: string, name: ColumnName): string => {
    const place = placeOf(type, 'embeddings', name);
    const chatPlace = placeOf(type, 'chat', name);
    return place === chatPlace ? place : `${place}; chat: ${chatPlace}`;
  };
  // Kinds with the same places share a row.
  const kindsOf = new Map<string, string[]>();
  for (const { type } of DESTINATION_KINDS) {
    const places = COLUMN_NAMES.map((name) => cellOf(type, name)).join(' | ');
    kindsOf.set(places, [...(kindsOf.get(places) ?? []), `\`${type}\``]);
  }
  const rows = [
    ['Kind', ...COLUMN_NAMES],
    ['---', ...COLUMN_NAMES.map(() => '---')],
    ...Array.from(kindsOf, ([places, kinds]) => [kinds.join(', '), places]),
  ];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const { format, resolveConfig } = await import('prettier');
  const options = await resolveConfig(PAGE.pathname);
  const formatted = (await format(table, { ...options, parser: 'markdown' })).trim();
  const renewed = page.replace(/(?<=<!-- columns -->\n\n).*?(?=\n\n<!-- \/columns -->)/s, () => formatted);
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(PAGE, renewed);
  else expect(page).toBe(renewed);
  expect(renewed).toContain(formatted);
});
