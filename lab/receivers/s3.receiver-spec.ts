// The objects of S3 in an independent store, s3rver, behind a proxy that checks signatures, which s3rver does not.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeliveryOutcome } from '../../src/destination-kinds/shared/delivery.js';
import type { GenerationTrace } from '../../src/domain/generations/generation-trace.js';
import { TOOLS_CHAT } from '../../test/support/deliveries/chat-traces.js';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import { CONTEXT, deliveringTo, encode, exchange, send } from '../../test/support/receivers/deliver.js';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type {
  ReceivedDelivery,
  RunningReceiver,
  ReceiverResult,
} from '../../test/support/receivers/receiver.js';
import { signatureProblem } from '../../test/support/receivers/s3-signature.js';
import { tracesOfAllCases } from '../../test/support/deliveries/trace-cases.js';
import { loadS3rver } from './engines.js';

// The one access key that s3rver knows.
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'a-secret-of-this-test' };
const BUCKET = 'my-traces';

let directory: string;
let store: { close(): Promise<void> };
let storeOrigin: string;
let running: RunningReceiver;

const delivering = (overrides: Readonly<Record<string, string>> = {}): ReturnType<typeof deliveringTo> =>
  deliveringTo({
    type: 's3',
    config: { bucketName: BUCKET, endpoint: running.origin, ...CREDENTIALS, ...overrides },
  });

/** One request to the store itself. */
function ask(
  path: string,
  { method, headers, bytes }: Pick<ReceivedDelivery, 'method' | 'headers' | 'bytes'>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(storeOrigin + path, { method, headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.once('end', () =>
        resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.once('error', reject);
    outgoing.end(bytes);
  });
}

const read = async (path: string): Promise<string> =>
  (await ask(path, { method: 'GET', headers: {}, bytes: Buffer.alloc(0) })).body;
const keys = async (): Promise<string[]> =>
  [...(await read(`/${BUCKET}?list-type=2&encoding-type=url`)).matchAll(/<Key>([^<]*)<\/Key>/g)].map(
    ([, key]) => decodeURIComponent((key ?? '').replaceAll('+', ' ')),
  );

// s3rver uses the current time.
const contextOf = (now: Date): typeof CONTEXT => ({ ...CONTEXT, now });

async function deliver(
  to: ReturnType<typeof delivering>,
  traces: readonly GenerationTrace[],
  now = new Date(),
): Promise<DeliveryOutcome[]> {
  const outcomes: DeliveryOutcome[] = [];
  for (const request of await encode(to, traces, contextOf(now))) {
    outcomes.push(await exchange(to, request, running));
  }
  return outcomes;
}

async function probe(
  { kind, config }: ReturnType<typeof delivering>,
  now = new Date(),
): Promise<string | null> {
  const [step] = await kind.delivery.probe(config, contextOf(now));
  return step!.problem(await send(step!.request, running));
}

async function check(request: ReceivedDelivery): Promise<ReceiverResult> {
  const problem = signatureProblem(request, { ...CREDENTIALS, region: 'us-east-1' });
  if (problem !== null) {
    return { reply: { status: 403, body: `<Error><Code>${problem}</Code></Error>` }, stored: [] };
  }
  return { reply: await ask(request.path, request), stored: [] };
}

beforeAll(async () => {
  running = await startReceiver({ check });
});
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-s3rver-'));
  const S3rver = loadS3rver();
  const started = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET, configs: [] }],
  });
  store = started;
  storeOrigin = `http://127.0.0.1:${(await started.run()).port}`;
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});
afterAll(() => running.close());

describe('objects', () => {
  it('are stored as sent, one for every trace, however unusual', async () => {
    const traces = tracesOfAllCases();
    expect(await deliver(delivering({ pathTemplate: '{date}/{apiKeyName}' }), traces)).toEqual(
      traces.map(() => ({ outcome: 'delivered' })),
    );
    const requests = await encode(delivering({ pathTemplate: '{date}/{apiKeyName}' }), traces);
    expect(await keys()).toHaveLength(traces.length);
    for (const { url, body } of requests) expect(await read(new URL(url).pathname)).toBe(body);
  });

  it('hold a streamed chat with tools, cached and reasoning tokens', async () => {
    const trace = generationTrace(7, TOOLS_CHAT);
    expect(await deliver(delivering(), [trace])).toEqual([{ outcome: 'delivered' }]);
    const [key] = await keys();
    const { observations } = JSON.parse(await read(`/${BUCKET}/${key}`)) as { observations: object[] };
    const { chat, promptTokens, totalTokens, cost } = trace;
    expect(observations).toEqual([
      expect.objectContaining({
        operation: 'chat',
        streamed: true,
        time_to_first_token_ms: 120,
        finish_reason: 'tool_calls',
        cost,
        input: expect.objectContaining({ messages: chat?.content?.messages, tools: chat?.content?.tools }),
        output: {
          choices: [
            expect.objectContaining({
              message: expect.objectContaining({
                tool_calls: chat?.content?.choices[0]?.toolCalls.map(({ id, name, arguments: text }) => ({
                  id,
                  type: 'function',
                  function: { name, arguments: text },
                })),
              }),
            }),
          ],
        },
        usage: expect.objectContaining({
          prompt_tokens: promptTokens,
          completion_tokens: chat?.completionTokens,
          total_tokens: totalTokens,
          prompt_tokens_details: expect.objectContaining({ cached_tokens: chat?.cachedTokens }),
          completion_tokens_details: expect.objectContaining({ reasoning_tokens: chat?.reasoningTokens }),
          cost,
        }),
      }),
    ]);
  });

  it('are the same objects when they are sent again', async () => {
    const traces = [generationTrace(1), generationTrace(2)];
    for (let attempt = 0; attempt < 3; attempt++) await deliver(delivering(), traces);
    expect(await keys()).toEqual(
      traces.map(({ traceId }) => `openrouter-traces/2026-11-21/${traceId}-1795255200.json`),
    );
  });

  it('are as many as the calls that share a trace and a second', async () => {
    const shared: Partial<GenerationTrace> = { traceId: 'f'.repeat(32) };
    const traces = Array.from({ length: 20 }, (_, index) => generationTrace(index + 1, shared));
    await deliver(delivering(), traces);
    expect(await keys()).toHaveLength(20);
  });
});

describe('a configuration error', () => {
  it.each([
    ['a bucket that is not there', { bucketName: 'nowhere' }, 'NoSuchBucket'],
    ['a wrong secret', { secretAccessKey: 'another-secret' }, 'SignatureDoesNotMatch'],
    ['an unknown access key', { accessKeyId: 'UNKNOWNKEY' }, 'InvalidAccessKeyId'],
    ['a region that is not the one of the store', { region: 'eu-west-1' }, 'AuthorizationHeaderMalformed'],
  ])('blocks for %s, and fails the connection test', async (_name, overrides, words) => {
    const outcomes = await deliver(delivering(overrides), [generationTrace(1)]);
    expect(outcomes).toEqual([{ outcome: 'blocked', reason: expect.stringContaining(words) }]);
    expect(await probe(delivering(overrides))).toContain(words);
    expect(await keys()).toEqual([]);
  });

  it('is reported for a clock that is an hour off', async () => {
    const anHourAgo = new Date(Date.now() - 3_600_000);
    expect(await deliver(delivering(), [generationTrace(1)], anHourAgo)).toEqual([
      { outcome: 'blocked', reason: expect.stringMatching(/RequestTimeTooSkewed: .*set the clock$/) },
    ]);
  });
});

describe('the connection test', () => {
  it('passes, and leaves one object behind after any number of runs', async () => {
    const now = new Date();
    for (let run = 0; run < 3; run++) expect(await probe(delivering(), now)).toBeNull();
    expect(await keys()).toEqual([
      `openrouter-traces/${now.toISOString().slice(0, 10)}/connection-test.json`,
    ]);
  });
});
