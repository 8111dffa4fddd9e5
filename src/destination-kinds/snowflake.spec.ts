import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import type { DeliveryRequest } from './shared/delivery.js';
import { snowflake, SnowflakeConfig } from './snowflake.js';

const CONTEXT = { destinationId: 'destination', now: new Date('2026-11-21T10:00:00Z') };
const configOf = (overrides: Partial<SnowflakeConfig>): SnowflakeConfig =>
  Object.assign(new SnowflakeConfig(), snowflake.example, overrides);
const merge = async (
  overrides: Partial<SnowflakeConfig>,
  numbers = [1],
  context = CONTEXT,
): Promise<DeliveryRequest> => {
  const traces = numbers.map((number) => generationTrace(number));
  const [request] = await snowflake.delivery.encode(configOf(overrides), traces, context);
  return request!;
};
const bodyOf = ({ body }: DeliveryRequest): Record<string, unknown> =>
  JSON.parse(body!.toString()) as Record<string, unknown>;

describe('the account', () => {
  it.each([
    ['myorg-account1', 'myorg-account1.snowflakecomputing.com'],
    ['MyOrg-my_account', 'myorg-my-account.snowflakecomputing.com'],
    ['xy12345.eu-central-1', 'xy12345.eu-central-1.snowflakecomputing.com'],
    ['xy12345.snowflakecomputing.com', 'xy12345.snowflakecomputing.com'],
    ['xy12345.cn-northwest-1.aws.snowflakecomputing.cn', 'xy12345.cn-northwest-1.aws.snowflakecomputing.cn'],
  ])('%s is at %s', async (account, host) => {
    expect(snowflake.delivery.addresses(configOf({ account }))).toEqual([`https://${host}`]);
    expect(new URL((await merge({ account })).url).host).toBe(host);
  });
});

describe('the merge', () => {
  it('has one bind with every row, and names as Snowflake stores them', async () => {
    const body = bodyOf(await merge({ database: 'analytics', schema: '"raw"', warehouse: 'wh' }, [1, 2]));
    expect(body).toEqual({
      statement: expect.stringMatching(/^MERGE INTO "OPENROUTER_TRACES" AS target\n/),
      timeout: 120,
      database: 'ANALYTICS',
      schema: 'raw',
      warehouse: 'WH',
      bindings: { 1: { type: 'TEXT', value: expect.any(String) } },
    });
    const { value } = (body['bindings'] as Record<string, { value: string }>)[1]!;
    expect(JSON.parse(value)).toEqual([
      expect.objectContaining({
        SPAN_ID: 'abcd000000000001',
        TIMESTAMP: Date.UTC(2026, 10, 21, 10, 0, 0, 1),
      }),
      expect.objectContaining({ SPAN_ID: 'abcd000000000002', OUTPUT: { count: 2, dimensions: 1536 } }),
    ]);
  });

  it("leaves an empty name to the user's defaults, except that of the table", async () => {
    const body = bodyOf(await merge({ database: '', schema: '', warehouse: '', table: '' }));
    expect(Object.keys(body)).toEqual(['statement', 'timeout', 'bindings']);
    expect(body['statement']).toMatch(/^MERGE INTO "OPENROUTER_TRACES" /);
  });

  it('has the same request id for the same batch, and another one for other batches', async () => {
    const elsewhere = { ...CONTEXT, destinationId: 'another' };
    const urls = await Promise.all([
      merge({}, [1, 2]),
      merge({}, [1, 2], { ...CONTEXT, now: new Date() }),
      merge({}, [1]),
      merge({}, [1, 2], elsewhere),
    ]);
    const ids = urls.map(({ url }) => new URL(url).searchParams.get('requestId'));
    expect(ids[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(ids[1]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('the connection test', () => {
  it('uses new request ids every time', async () => {
    const idsOf = async (now: Date): Promise<string[]> =>
      (await snowflake.delivery.probe(configOf({}), { ...CONTEXT, now })).map(({ request }) => request.url);
    const first = await idsOf(CONTEXT.now);
    const second = await idsOf(new Date(CONTEXT.now.getTime() + 1));
    expect(new Set([...first, ...second]).size).toBe(6);
  });

  it('passes with statements that wait for their warehouse, except the one whose result is needed', async () => {
    const waiting = { status: 202, headers: {}, body: Buffer.from('{"code":"333334"}') };
    const steps = await snowflake.delivery.probe(configOf({}), CONTEXT);
    expect(steps.map((step) => step.problem(waiting))).toEqual([null, 'HTTP 202: {"code":"333334"}', null]);
  });

  it('names the missing columns, and fails for a response without them', async () => {
    const [, describeTable] = await snowflake.delivery.probe(configOf({}), CONTEXT);
    const answer = (body: object): string | null =>
      describeTable!.problem({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });
    expect(answer({ data: [['TRACE_ID', 'VARCHAR'], null] })).toMatch(
      /lacks the columns GENERATION_ID VARCHAR, /,
    );
    expect(answer({})).toBe('HTTP 200: {}');
  });
});
