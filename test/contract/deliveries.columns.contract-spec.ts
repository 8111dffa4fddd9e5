// Which columns of each platform a delivery fills, and the table of them in docs/destinations.md.
import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { DESTINATION_KINDS } from '../../src/destination-kinds/index.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import { generationTrace } from '../support/generation-trace.js';
import { COLUMN_NAMES, platformColumns } from '../support/receivers/columns.js';
import type { ColumnName } from '../support/receivers/columns.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { TRACE_CASES } from '../support/trace-cases.js';

const PAGE = new URL('../../docs/destinations.md', import.meta.url);
const BARE_NAME = 'text-embedding-3-small';
// Characters of an input that every platform shows at least.
const SHOWN_INPUT = 100;

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Whether a column shows the fact of the trace; null: the trace has no such fact. */
const SHOWS: Readonly<Record<ColumnName, (trace: GenerationTrace) => ((value: unknown) => boolean) | null>> =
  {
    type: () => (value) => /^(.*embedding.*|llm|generation)$/i.test(asText(value)),
    model: () => (value) => asText(value).endsWith(BARE_NAME),
    provider: ({ provider }) => (provider === null ? null : (value) => asText(value).includes(provider)),
    // Failed calls have no tokens.
    tokens: ({ totalTokens, error }) => (error ? null : (value) => Number(value) === totalTokens),
    // A platform that takes no cost computes its own, for names that it knows.
    cost: ({ cost }) => (cost === null ? null : (value) => Number(value) === cost || value === BARE_NAME),
    user: ({ userId }) => (userId === null ? null : (value) => value === userId),
    session: ({ sessionId }) => (sessionId === null ? null : (value) => value === sessionId),
    input: ({ input }) => {
      const first = input?.items[0];
      if (first === undefined || first.length === 0) return null;
      const beginning = typeof first === 'string' ? first.slice(0, SHOWN_INPUT) : first.join();
      return (value) => asText(value).replaceAll('\\', '').includes(beginning.toWellFormed());
    },
    output: ({ error, inputCount }) => (error ? null : (value) => asText(value).includes(String(inputCount))),
    error: ({ error }) => {
      if (error === null) return null;
      const [beginning = ''] = (error.message ?? error.type).split('\n');
      return (value) => asText(value).includes(beginning);
    },
  };

// Their content is longer than some platforms take: it is cut, and marked as cut.
const isLong = (name: string): boolean => name.startsWith('256 KiB');
const CASES = Object.keys(TRACE_CASES).filter((name) => !isLong(name));
// U+0000 and lone surrogates are replaced, where the platform cannot hold them.
const ODD_TEXTS = new Set(['texts of all the world', 'half an emoji at every place']);

describe.each(DESTINATION_RECEIVERS.map((receiver) => ({ type: receiver.type, receiver })))(
  '$type',
  ({ type, receiver }) => {
    const { places, shown } = platformColumns(type);
    const delivering = deliveringTo(receiver);

    it.each(CASES)('leaves no column blank that the call can fill: %s', async (name) => {
      const trace = generationTrace(1, TRACE_CASES[name]);
      const [columns] = shown(await encode(delivering, [trace]));
      for (const column of COLUMN_NAMES) {
        if (places[column] === null) continue;
        const shows = SHOWS[column](trace);
        const value = columns?.get(column);
        if (shows && !isFilled(value)) throw new Error(`${column} (${places[column].place}) is blank`);
        if (shows && !ODD_TEXTS.has(name) && !shows(value))
          throw new Error(`${column} (${places[column].place}) shows ${asText(value)}`);
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
      expect(shown(requests)).toHaveLength(3);
      const text = requests.map(({ body }) => body?.toString()).join('\n');
      for (const { generationId } of traces) expect(text).toContain(generationId.replaceAll('-', ''));
      expect(text.match(/embed-query/g)?.length).toBeGreaterThanOrEqual(3);
      // The trace and the parent of the caller can be found, as ids or as metadata.
      expect(text).toContain('4bf92f3577b34da6a3ce929d0e0e4736');
      if (type !== 'opik') expect(text).toContain('00f067aa0ba902b7');
    });
  },
);

describe('the table of docs/destinations.md', () => {
  it('is the columns that the platforms show', async () => {
    const page = await readFile(PAGE, 'utf8');
    const cellOf = (type: string, name: ColumnName): string => {
      const found = platformColumns(type).places[name];
      if (found === null) return '—';
      if (found.isOwn) return found.place;
      return found.place.includes('`') ? found.place : `\`${found.place}\``;
    };
    const rows = [
      ['Kind', ...COLUMN_NAMES],
      ['---', ...COLUMN_NAMES.map(() => '---')],
      ...DESTINATION_KINDS.map(({ type }) =>
        [`\`${type}\``].concat(COLUMN_NAMES.map((name) => cellOf(type, name))),
      ),
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
});
