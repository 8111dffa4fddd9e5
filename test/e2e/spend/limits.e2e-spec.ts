import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { formatUsd, parseUsd, parseUsdPerMillion } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { underLoad } from '../../support/extent.js';
import type { TestApp } from '../../support/app/app.js';
import {
  patternVector,
  sendJson,
  startStubUpstream,
  toBase64,
} from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

const TEXT = 'The quick brown fox jumps over the lazy dog';
const TOKENS = countTokens(TEXT);
// text-embedding-3-large: 0.13 USD a million tokens.
const COST_OF_A_CALL = parseUsdPerMillion('0.13') * BigInt(TOKENS);
const PARALLEL_CALLS = underLoad(500);
const VECTOR = toBase64(patternVector(0, 3072));

let upstream: StubUpstream;
let app: TestApp;
let replica: TestApp;

beforeAll(async () => {
  upstream = await startStubUpstream((_request, response) => answer(response));
  const environment = { OPENAI_API_KEY: 'upstream-key', OPENAI_BASE_URL: `${upstream.origin}/v1` };
  app = await createTestApp({ environment });
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await app.close();
  await upstream.close();
});

function answer(response: ServerResponse): void {
  sendJson(response, 200, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: VECTOR }],
    usage: { prompt_tokens: TOKENS, total_tokens: TOKENS },
  });
}

const embed = (on: TestApp, secret: string, input = TEXT) =>
  on.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${secret}`)
    .send({ model: 'openai/text-embedding-3-large', input, encoding_format: 'base64' });

/** Calls in parallel, then one by one until the limit rejects one. */
async function useUp(calls: number, limit: bigint, replicas: readonly TestApp[]) {
  const { secret, record } = await app.createKey({ limit });
  const answers = await Promise.all(
    Array.from({ length: calls }, (_value, index) => embed(replicas[index % replicas.length] ?? app, secret)),
  );
  const statuses = answers.map(({ status }) => status);
  // 503: the money stayed reserved for as long as a call waits for it.
  expect([200, 402, 503]).toEqual(expect.arrayContaining([...new Set(statuses)]));
  await eventually(
    async () => {
      const { status } = await embed(app, secret);
      statuses.push(status);
      return status;
    },
    (status) => status === 402,
  );
  const [spend] = await app.sql<{ total: string; reserved: string }>(
    'SELECT total, reserved FROM key_spend WHERE api_key_id = $1',
    [record.id],
  );
  return { served: statuses.filter((status) => status === 200).length, spend };
}

describe('a limit worth k calls', () => {
  it('admits exactly k of many parallel calls', async () => {
    const { served, spend } = await useUp(PARALLEL_CALLS, COST_OF_A_CALL * 37n, [app]);
    expect(served).toBe(37);
    expect(parseUsd(spend?.total ?? '')).toBe(COST_OF_A_CALL * 37n);
  });

  it('admits exactly k of many parallel calls on two replicas', async () => {
    const { served, spend } = await useUp(PARALLEL_CALLS, COST_OF_A_CALL * 41n, [app, replica]);
    expect(served).toBe(41);
    expect(parseUsd(spend?.total ?? '')).toBe(COST_OF_A_CALL * 41n);
  });

  it('admits all of k calls when a part of a call is left over', async () => {
    const { served } = await useUp(60, COST_OF_A_CALL * 50n + COST_OF_A_CALL / 2n, [app, replica]);
    expect(served).toBe(50);
  });

  it('is not exceeded by one replica while the other holds an unused lease', async () => {
    const { secret, record } = await app.createKey({ limit: COST_OF_A_CALL * 100_000n });
    // Far from the limit: this leases a part of the remainder.
    expect((await embed(replica, secret)).status).toBe(200);
    await app.sql('UPDATE key_spend SET total = $2 WHERE api_key_id = $1', [
      record.id,
      formatUsd(COST_OF_A_CALL * 99_990n),
    ]);
    const answers: number[] = [];
    for (let call = 0; call < 12; call++) answers.push((await embed(app, secret)).status);
    expect(answers).toEqual([...Array<number>(10).fill(200), 402, 402]);
  });

  it('admits calls whose tokens fit beside the reserved bytes of a call in flight', async () => {
    // Room for the bound by bytes of one call, and for what another really costs.
    const { secret } = await app.createKey({
      limit: parseUsdPerMillion('0.13') * BigInt(Buffer.byteLength(TEXT) + 8) + COST_OF_A_CALL,
    });
    const arrival = new Promise<() => void>((resolve) => {
      upstream.answerWith((_request, response) => resolve(() => answer(response)));
    });
    const inFlight = embed(app, secret).then(({ status }) => status);
    const letGo = await arrival;
    upstream.answerWith(null);
    expect((await embed(app, secret)).status).toBe(200);
    letGo();
    expect(await inFlight).toBe(200);
  });

  it('counts the names of special tokens as their text', async () => {
    const input = `${TEXT} <|endoftext|>`;
    const cost = parseUsdPerMillion('0.13') * BigInt(countTokens(input, { disallowedSpecial: new Set() }));
    const answers = await Promise.all(
      [cost - 1n, cost].map(async (limit) => embed(app, (await app.createKey({ limit })).secret, input)),
    );
    expect(answers.map(({ status }) => status)).toEqual([402, 200]);
  });
});
