import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { COLUMNS, missingColumns, rowOf } from './columns.js';

const FORMAT = { time: (moment: Date) => moment.toISOString(), json: (value: object) => value };
const ALL = COLUMNS.map(({ name }) => name);

describe('a row', () => {
  it('has a column for every known fact', () => {
    const trace = generationTrace(7, {
      parentSpanId: '00f067aa0ba902b7',
      traceName: 'Checkout',
      isByok: true,
    });
    expect(rowOf(trace, FORMAT)).toEqual({
      GENERATION_ID: 'gen-0193a1b2c3d470008000000000000007',
      TRACE_ID: '0193a1b2c3d470008000000000000007',
      SPAN_ID: 'abcd000000000007',
      PARENT_SPAN_ID: '00f067aa0ba902b7',
      WORKSPACE_ID: '0193a1b2-0000-7000-8000-00000000000a',
      API_KEY_NAME: 'Search service',
      USER_ID: 'customer-7',
      SESSION_ID: 'session-9',
      TIMESTAMP: '2026-11-21T10:00:00.007Z',
      START_TIME: '2026-11-21T10:00:00.007Z',
      END_TIME: '2026-11-21T10:00:00.049Z',
      DURATION_MS: 42,
      SPAN_TYPE: 'GENERATION',
      STATUS: 'ok',
      LEVEL: 'DEFAULT',
      MODEL: 'openai/text-embedding-3-small',
      PROVIDER_NAME: 'openai',
      PROMPT_TOKENS: 9,
      COMPLETION_TOKENS: 0,
      TOTAL_TOKENS: 9,
      TOTAL_COST: 0.00000018,
      ATTRIBUTES: expect.objectContaining({
        'gen_ai.operation.name': 'embeddings',
        'gen_ai.request.model': 'openai/text-embedding-3-small',
        'gen_ai.request.encoding_formats': ['float'],
        'gen_ai.embeddings.dimension.count': 1536,
        'openrouter.is_byok': true,
        'openrouter.creator_user_id': 'user-42',
      }),
      METADATA: {
        environment: 'production',
        nested: { depth: 1 },
        trace_name: 'Checkout',
        span_name: 'embeddings openai/text-embedding-3-small',
      },
      MODEL_PARAMETERS: { encoding_format: 'float', input_type: 'search_query' },
      INPUT: { input: ['the first text', 'the second “text” 🙂'] },
      OUTPUT: { count: 2, dimensions: 1536 },
    });
  });

  it('omits unknown values, and has the reason of a failure', () => {
    const row = rowOf(
      generationTrace(1, {
        provider: null,
        userId: null,
        cost: null,
        input: null,
        facts: { usage: 0.5 },
        error: { type: 'provider_timeout', message: null },
      }),
      FORMAT,
    );
    expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['PROVIDER_NAME']));
    for (const name of ['PARENT_SPAN_ID', 'USER_ID', 'TOTAL_COST', 'INPUT'])
      expect(row).not.toHaveProperty(name);
    expect(row).toMatchObject({
      STATUS: 'error',
      LEVEL: 'ERROR',
      FINISH_REASON: 'error',
      OUTPUT: { error: { type: 'provider_timeout', message: null } },
      METADATA: { openrouter_generation: { usage: 0.5 } },
    });
  });

  it('marks cut inputs', () => {
    const trace = generationTrace(1, { input: { items: ['a', [1, 2]], isTruncated: true } });
    expect(rowOf(trace, FORMAT)['INPUT']).toEqual({ input: ['a', [1, 2]], truncated: true });
  });
});

describe('missing columns', () => {
  it('are none in a table with all columns and others', () => {
    expect(missingColumns([...ALL, 'MINE', undefined], 'clickhouse')).toBeNull();
  });

  it('are named with their types, up to the length of an error message', () => {
    const without = (...names: string[]): string[] => ALL.filter((name) => !names.includes(name));
    expect(missingColumns(without('MODEL', 'TOTAL_COST'), 'clickhouse')).toBe(
      'the table lacks the columns MODEL LowCardinality(String), TOTAL_COST Nullable(Decimal(24, 12))',
    );
    expect(missingColumns(without('TOTAL_COST'), 'snowflake')).toBe(
      'the table lacks the columns TOTAL_COST NUMBER(24, 12)',
    );
    expect(missingColumns([], 'snowflake')).toMatch(new RegExp(` and ${ALL.length - 5} more$`));
  });
});
