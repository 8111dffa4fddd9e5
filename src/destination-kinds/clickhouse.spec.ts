import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import { clickhouse, ClickhouseConfig } from './clickhouse.js';
import type { DeliveryRequest, DeliveryResponse } from './shared/delivery.js';
import { COLUMNS } from './tables/columns.js';

const CONTEXT = { destinationId: 'destination', now: new Date('2026-11-21T10:00:00Z') };
const configOf = (overrides: Partial<ClickhouseConfig>): ClickhouseConfig =>
  Object.assign(new ClickhouseConfig(), clickhouse.example, overrides);
const insert = async (
  overrides: Partial<ClickhouseConfig>,
  ...numbers: number[]
): Promise<DeliveryRequest> => {
  const traces = (numbers.length === 0 ? [1] : numbers).map((number) => generationTrace(number));
  const [request] = await clickhouse.delivery.encode(configOf(overrides), traces, CONTEXT);
  return request!;
};
const parameter = ({ url }: DeliveryRequest, name: string): string | null =>
  new URL(url).searchParams.get(name);

describe('the insert', () => {
  it('has its settings and a token of its own in the address', async () => {
    const { searchParams } = new URL((await insert({})).url);
    expect(Object.fromEntries(searchParams)).toEqual({
      database: 'default',
      query: 'INSERT INTO `OPENROUTER_TRACES` FORMAT JSONEachRow',
      async_insert: '0',
      input_format_skip_unknown_fields: '1',
      date_time_input_format: 'best_effort',
      insert_deduplication_token: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('has the same token for the same traces, and another token for others', async () => {
    const tokens = await Promise.all(
      [[1, 2], [1, 2], [1], [2, 1], [1, 2, 3]].map(async (numbers) =>
        parameter(await insert({}, ...numbers), 'insert_deduplication_token'),
      ),
    );
    expect(tokens[1]).toBe(tokens[0]);
    expect(new Set(tokens).size).toBe(4);
  });

  it('has one row per line, times with their zone, and JSON as text', async () => {
    const lines = (await insert({}, 1, 2)).body!.toString().split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1]!)).toMatchObject({
      START_TIME: '2026-11-21 10:00:00.002Z',
      OUTPUT: '{"count":2,"dimensions":1536}',
    });
  });

  it.each([
    ['traces', '`traces`'],
    ['other.traces', '`other`.`traces`'],
    ['a b;-- ', '`a b;-- `'],
    ['t` (x) VALUES (1) -- ', '`t\\` (x) VALUES (1) -- `'],
    ['t\\', '`t\\\\`'],
    ['', '`OPENROUTER_TRACES`'],
  ])('takes %j as a name and no more', async (table, quoted) => {
    expect(parameter(await insert({ table }), 'query')).toBe(`INSERT INTO ${quoted} FORMAT JSONEachRow`);
  });

  it.each([
    ['abc.clickhouse.cloud:8443', 'https://abc.clickhouse.cloud:8443/?'],
    ['http://localhost:8123/', 'http://localhost:8123/?'],
    ['https://proxy.example.com/clickhouse', 'https://proxy.example.com/clickhouse/?'],
  ])('goes to the host as it was given: %s', async (host, beginning) => {
    expect((await insert({ host })).url.startsWith(beginning)).toBe(true);
    expect(clickhouse.delivery.addresses(configOf({ host }))).toEqual([beginning.slice(0, -2)]);
  });

  it('sends a password of any alphabet as its UTF-8 bytes', async () => {
    const { headers } = await insert({ password: 'пароль' });
    expect(Buffer.from(headers['x-clickhouse-key']!, 'latin1').toString('utf8')).toBe('пароль');
  });
});

describe('the connection test', () => {
  const answer = (status: number, body: string | object): DeliveryResponse => ({
    status,
    headers: {},
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
  const problems = async (...answers: DeliveryResponse[]): Promise<(string | null)[]> => {
    const steps = await clickhouse.delivery.probe(configOf({}), CONTEXT);
    return steps.map((step, index) => step.problem(answers[index]!));
  };
  const described = { data: COLUMNS.map(({ name }) => ({ name, type: 'String' })) };

  it('passes when all is well, and when an engine rejects only the missing rows', async () => {
    expect(await problems(answer(200, '1\n'), answer(200, described), answer(200, ''))).toEqual([
      null,
      null,
      null,
    ]);
    const nothingCame = answer(400, 'Code: 108. DB::Exception: No data to insert. (NO_DATA_TO_INSERT)');
    expect((await problems(answer(200, '1\n'), answer(200, described), nothingCame))[2]).toBeNull();
  });

  it('fails for a web site, a table of other columns, and without the right to insert', async () => {
    const denied = 'Code: 497. DB::Exception: signalbox: Not enough privileges. (ACCESS_DENIED)';
    expect(
      await problems(
        answer(200, '<html>'),
        answer(200, { data: [{ name: 'id' }, null] }),
        answer(403, denied),
      ),
    ).toEqual([
      'HTTP 200: <html>',
      expect.stringContaining('the table lacks the columns GENERATION_ID String, TRACE_ID String'),
      `HTTP 403: ${denied}`,
    ]);
  });
});
