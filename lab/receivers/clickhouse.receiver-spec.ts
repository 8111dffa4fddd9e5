// The rows of ClickHouse in a real engine, in the table that docs/destinations/clickhouse.md publishes.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { clickhouse } from '../../src/destination-kinds/clickhouse.js';
import { EXCEPTIONS } from '../../src/destination-kinds/tables/clickhouse-answer.js';
import { generationHeaderId } from '../../src/domain/identifiers.js';
import { TOOLS_CHAT } from '../../test/support/deliveries/chat-traces.js';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import { deliver, deliveringTo, probe } from '../../test/support/receivers/deliver.js';
import { publishedTable } from '../../test/support/receivers/published-table.js';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type { RunningReceiver } from '../../test/support/receivers/receiver.js';
import { TRACE_CASES, tracesOfAllCases } from '../../test/support/deliveries/trace-cases.js';
import { startClickhouse, USER } from './clickhouse-front.js';
import type { ClickhouseFront } from './clickhouse-front.js';

const TABLE = 'traces.OPENROUTER_TRACES';
const { statement } = publishedTable('clickhouse');
const DELIVERED = [{ outcome: 'delivered' }];
const TRACES = [generationTrace(1), generationTrace(2), generationTrace(3)];

let front: ClickhouseFront;
let running: RunningReceiver;

const delivering = (overrides: Readonly<Record<string, string>> = {}): ReturnType<typeof deliveringTo> =>
  deliveringTo({
    type: 'clickhouse',
    config: { host: running.origin, database: 'traces', ...USER, ...overrides },
  });
const count = (from = TABLE): unknown => front.query(`SELECT count() AS rows FROM ${from}`)[0]!['rows'];

beforeAll(async () => {
  front = startClickhouse();
  running = await startReceiver(front);
  const [engine] = front.query('SELECT version() AS version');
  console.log(`ClickHouse ${String(engine!['version'])}`);
});
afterAll(async () => {
  await running.close();
  front.close();
});
beforeEach(() => {
  front.query('CREATE DATABASE traces');
  front.query(statement.replace('OPENROUTER_TRACES', TABLE));
});
afterEach(() => {
  front.configure({});
  front.query('DROP DATABASE traces');
});

describe('rows in the published table', () => {
  it('hold the facts of the trace', async () => {
    const trace = generationTrace(7, { parentSpanId: '00f067aa0ba902b7', facts: { usage: 0.5 } });
    expect(await deliver(delivering(), [trace], running)).toEqual(DELIVERED);
    expect(
      front.query(`SELECT GENERATION_ID, TRACE_ID, PARENT_SPAN_ID, STATUS, FINISH_REASON, PROMPT_TOKENS, DURATION_MS,
        toUnixTimestamp64Milli(TIMESTAMP) AS startedAt, toUnixTimestamp64Milli(END_TIME) AS endedAt,
        toString(TOTAL_COST) AS cost, JSONExtractString(INPUT, 'input', 2) AS second,
        JSONExtractUInt(OUTPUT, 'dimensions') AS dimensions, JSONExtractString(METADATA, 'environment') AS environment,
        JSONExtractFloat(METADATA, 'openrouter_generation', 'usage') AS usage,
        JSONExtractString(ATTRIBUTES, 'gen_ai.request.model') AS model FROM ${TABLE}`),
    ).toEqual([
      {
        GENERATION_ID: generationHeaderId(trace.generationId),
        TRACE_ID: trace.traceId,
        PARENT_SPAN_ID: '00f067aa0ba902b7',
        STATUS: 'ok',
        FINISH_REASON: null,
        PROMPT_TOKENS: 9,
        DURATION_MS: 42,
        startedAt: trace.startedAt.getTime(),
        endedAt: trace.endedAt.getTime(),
        cost: '0.00000018',
        second: 'the second “text” 🙂',
        dimensions: 1536,
        environment: 'production',
        usage: 0.5,
        model: trace.model,
      },
    ]);
  });

  it('hold a streamed chat with tools, cached and reasoning tokens', async () => {
    const trace = generationTrace(7, TOOLS_CHAT);
    expect(await deliver(delivering(), [trace], running)).toEqual(DELIVERED);
    const attribute = (name: string, as: string) => `JSONExtractFloat(ATTRIBUTES, '${name}') AS ${as}`;
    const { chat } = trace;
    expect(
      front.query(`SELECT MODEL, FINISH_REASON, PROMPT_TOKENS, COMPLETION_TOKENS, TOTAL_TOKENS,
        toString(TOTAL_COST) AS cost, JSONExtractString(INPUT, 'messages', 1, 'content') AS system,
        JSONExtractString(INPUT, 'tools', 1, 'function', 'name') AS tool,
        JSONExtractString(OUTPUT, 'choices', 1, 'message', 'tool_calls', 1, 'function', 'arguments') AS arguments,
        JSONExtractString(MODEL_PARAMETERS, 'reasoning_effort') AS effort,
        JSONExtractBool(ATTRIBUTES, 'gen_ai.request.stream') AS streamed,
        ${attribute('gen_ai.usage.cache_read.input_tokens', 'cached')},
        ${attribute('gen_ai.usage.reasoning.output_tokens', 'reasoning')},
        ${attribute('gen_ai.response.time_to_first_chunk', 'firstChunk')} FROM ${TABLE}`),
    ).toEqual([
      {
        MODEL: trace.model,
        FINISH_REASON: 'tool_calls',
        PROMPT_TOKENS: trace.promptTokens,
        COMPLETION_TOKENS: chat?.completionTokens,
        TOTAL_TOKENS: trace.totalTokens,
        cost: String(trace.cost),
        system: 'Be brief.',
        tool: 'find_cats',
        arguments: '{"colour":"grey"}',
        effort: 'low',
        streamed: 1,
        cached: chat?.cachedTokens,
        reasoning: chat?.reasoningTokens,
        firstChunk: 0.12,
      },
    ]);
  });

  it.each(Object.entries(TRACE_CASES))('are accepted: %s', async (_name, overrides) => {
    expect(await deliver(delivering(), [generationTrace(1, overrides)], running)).toEqual(DELIVERED);
    expect(count()).toBe(1);
  });

  it('are as many as the unusual traces of a batch', async () => {
    const traces = tracesOfAllCases();
    expect(await deliver(delivering(), traces, running)).toEqual(DELIVERED);
    expect(count()).toBe(traces.length);
  });

  it('hold half a character as U+FFFD, in texts and within JSON', async () => {
    const input = { items: ['\ud800 alone'], isTruncated: false };
    const trace = generationTrace(1, { userId: 'half \ude42', input });
    expect(await deliver(delivering(), [trace], running)).toEqual(DELIVERED);
    expect(front.query(`SELECT USER_ID, JSONExtractString(INPUT, 'input', 1) AS text FROM ${TABLE}`)).toEqual(
      [{ USER_ID: 'half \ufffd', text: '\ufffd alone' }],
    );
  });

  it('are as many as the largest batch has', async () => {
    const { maxTraces } = clickhouse.delivery.limits;
    const traces = Array.from({ length: maxTraces }, (_, index) => generationTrace(index + 1));
    expect(await deliver(delivering(), traces, running)).toEqual(DELIVERED);
    expect(front.query(`SELECT uniqExact(GENERATION_ID) AS ids FROM ${TABLE}`)).toEqual([{ ids: maxTraces }]);
  });

  it('are not stored again with the same batch', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await deliver(delivering(), TRACES, running)).toEqual(DELIVERED);
    }
    expect(count()).toBe(3);
  });

  it('are one when read as final, and one after a merge, with another batch', async () => {
    await deliver(delivering(), TRACES, running);
    await deliver(delivering(), [TRACES[2]!, TRACES[0]!], running);
    expect(count()).toBe(5);
    expect(count(`${TABLE} FINAL`)).toBe(3);
    front.query(`OPTIMIZE TABLE ${TABLE} FINAL`);
    expect(count()).toBe(3);
  });
});

describe('a differing table', () => {
  const make = (columns: string): unknown =>
    front.query(`CREATE TABLE traces.other (${columns}) ENGINE = MergeTree ORDER BY tuple()`);

  it('may have fewer columns: the rest is skipped, and the connection test names it', async () => {
    make('TRACE_ID String, MODEL String');
    expect(await deliver(delivering({ table: 'other' }), TRACES, running)).toEqual(DELIVERED);
    expect(count('traces.other')).toBe(3);
    expect(await probe(delivering({ table: 'other' }), running)).toContain(
      'GENERATION_ID String, SPAN_ID String',
    );
  });

  it('may have times without a zone, on a server far from Greenwich', async () => {
    front.configure({ session_timezone: 'Asia/Tokyo' });
    make('TIMESTAMP DateTime64(3)');
    expect(await deliver(delivering({ table: 'other' }), [TRACES[0]!], running)).toEqual(DELIVERED);
    expect(front.query('SELECT toUnixTimestamp64Milli(TIMESTAMP) AS moment FROM traces.other')).toEqual([
      { moment: TRACES[0]!.startedAt.getTime() },
    ]);
  });

  it.each(['odd `name`', 'back\\slash', "quote'; DROP DATABASE traces; --"])(
    'may be called %s',
    async (table) => {
      const quoted = `\`${table.replace(/[\\`]/g, '\\$&')}\``;
      front.query(`CREATE TABLE traces.${quoted} (TRACE_ID String) ENGINE = MergeTree ORDER BY tuple()`);
      expect(await deliver(delivering({ table }), TRACES, running)).toEqual(DELIVERED);
      expect(count(`traces.${quoted}`)).toBe(3);
    },
  );

  it('may be in another database', async () => {
    expect(
      await deliver(delivering({ database: 'default', table: 'traces.OPENROUTER_TRACES' }), TRACES, running),
    ).toEqual(DELIVERED);
    expect(count()).toBe(3);
  });

  it('rejects rows that its types do not accept, without repeating their text', async () => {
    make('API_KEY_NAME UInt8, INPUT String');
    const [outcome] = await deliver(delivering({ table: 'other' }), TRACES, running);
    expect(outcome).toEqual({
      outcome: 'refused',
      reason: expect.stringMatching(/^ClickHouse's exception \d+ /),
    });
    expect(count('traces.other')).toBe(0);
  });
});

describe('a configuration error', () => {
  it.each([
    ['a table that is not there', { table: 'nowhere' }, 'UNKNOWN_TABLE'],
    ['a database that is not there', { database: 'nowhere' }, 'UNKNOWN_DATABASE'],
    ['a wrong password', { password: 'wronghorse-battery' }, 'AUTHENTICATION_FAILED'],
  ])('blocks for %s, and fails the connection test', async (_name, overrides, words) => {
    const reason = expect.stringContaining(words);
    expect(await deliver(delivering(overrides), TRACES, running)).toEqual([{ outcome: 'blocked', reason }]);
    expect(await probe(delivering(overrides), running)).toContain(words);
  });

  it('does not exist in the published table', async () => {
    expect(await probe(delivering(), running)).toBeNull();
    expect(count()).toBe(0);
  });
});

describe('the list of exceptions', () => {
  it.each(Object.entries(EXCEPTIONS))('has the names of the engine: %s', (_outcome, exceptions) => {
    for (const [code, name] of exceptions) {
      expect(front.query(`SELECT errorCodeToName(${code}) AS name`)).toEqual([{ name }]);
    }
  });
});
