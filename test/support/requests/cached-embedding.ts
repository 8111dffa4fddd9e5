// Shared by the specs of X-Embedding-Cache: an upstream whose vectors identify their text, and the inputs that it
// received.
import type { Test } from 'supertest';
import type { TestApp } from '../app/app.js';
import { answerOf, embed, rejectWith, SMALL, startWithUpstream } from './create-embedding.js';
import type { EmbeddingsAnswer, Setup } from './create-embedding.js';
import { openAiAnswer, vectorOf } from '../providers/vectors.js';
import { answerLikeOpenAi, sendJson } from '../upstreams/stub-upstream.js';
import type { StubHandler } from '../upstreams/stub-upstream.js';

export const CACHE_HEADER = 'X-Embedding-Cache';
export const WIDTH = 4;
const FULL_WIDTH = 1536;

/** A text that the upstream refuses, and the whole call with it. */
export const REJECTED = 'refused';

export interface CachedSetup extends Setup {
  /** Every input that the upstream received since the last time. */
  takeInputs(): unknown[];
  /** The inputs of every request to the upstream since the last time. */
  takeRequests(): string[][];
}

export async function startWithTexts(
  environment: Readonly<Record<string, string>> = {},
): Promise<CachedSetup> {
  const setup = await startWithUpstream(environment);
  setup.upstream.answerWith(answerByText);
  const takeRequests = (): string[][] =>
    setup.upstream.requests.splice(0).map(({ body }) => body['input'] as string[]);
  return { ...setup, takeInputs: () => takeRequests().flat(), takeRequests };
}

/** Charges a token for each word. */
export const answerByText: StubHandler = (request, response) => {
  if (request.method === 'GET') return answerLikeOpenAi(request, response);
  const { model, dimensions: width, encoding_format: format } = request.body;
  const inputs = request.body['input'] as unknown[];
  if (inputs.includes(REJECTED)) return rejectWith(400, { error: { message: 'refused' } })(request, response);
  sendJson(response, 200, openAiAnswer(inputs, { model, fullWidth: FULL_WIDTH, width, format }));
};

/** The vector that answerByText() returns for a text. */
export function embeddingOf(text: string, width = WIDTH): number[] {
  return vectorOf(text, FULL_WIDTH, width);
}

/** With the cache on. */
export function embedCached(app: TestApp, input: unknown, members: object = {}, key = app.apiKey): Test {
  return embed(app, { model: SMALL, input, dimensions: WIDTH, ...members }, key).set(CACHE_HEADER, 'on');
}

/** Whether each item is marked, and only with true. */
export function marksOf({ data }: EmbeddingsAnswer): boolean[] {
  return data.map((item) => {
    const { cached } = item as { cached?: unknown };
    if (cached !== undefined && cached !== true) throw new Error(`cached: ${JSON.stringify(cached)}`);
    return 'cached' in item;
  });
}

export interface Outcome {
  readonly vectors: unknown[];
  readonly marks: boolean[];
  readonly header: string | undefined;
  readonly usage: unknown;
}

export async function outcomeOf(test: Test): Promise<Outcome> {
  const response = await test;
  const answer = answerOf(response);
  return {
    vectors: answer.data.map(({ embedding }) => embedding),
    marks: marksOf(answer),
    header: response.headers[CACHE_HEADER.toLowerCase()],
    usage: answer.usage,
  };
}

/** The cost of so many tokens of the model: 0.02 USD a million. */
export function usageOf(tokens: number): object {
  const cost = Number((tokens * 2e-8).toFixed(12));
  return { prompt_tokens: tokens, total_tokens: tokens, cost, is_byok: false };
}

/** In 10^-12 USD, by the counter and by the log. */
export async function spendOf(app: TestApp, apiKeyId: string): Promise<{ counted: bigint; logged: bigint }> {
  const [row] = await app.sql<{ counted: string; logged: string }>(
    `SELECT (total * 1e12)::bigint AS counted,
       (SELECT (coalesce(sum(cost), 0) * 1e12)::bigint FROM generations WHERE api_key_id = $1) AS logged
     FROM key_spend WHERE api_key_id = $1`,
    [apiKeyId],
  );
  if (!row) throw new Error('no counter');
  return { counted: BigInt(row.counted), logged: BigInt(row.logged) };
}
