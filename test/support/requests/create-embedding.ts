// Shared by the specs of POST /embeddings.
import type { Response, Test } from 'supertest';
import { createTestApp } from '../app/app.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { sendJson, startStubUpstream } from '../upstreams/stub-upstream.js';
import type { StubHandler, StubUpstream } from '../upstreams/stub-upstream.js';

export const EMBEDDINGS = '/api/v1/embeddings';
export const LOCAL = 'local/hashing';
export const SMALL = 'openai/text-embedding-3-small';

export interface EmbeddingsAnswer {
  readonly object: string;
  readonly data: readonly { readonly object: string; readonly index: number; readonly embedding: unknown }[];
  readonly model: string;
  readonly id: string;
  readonly provider: string;
  readonly usage: Readonly<Record<string, unknown>>;
}

export interface Setup {
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  close(): Promise<void>;
}

/** The service with a stub of OpenAI behind it. */
export async function startWithUpstream(
  environment: Readonly<Record<string, string>> = {},
  options: Omit<TestAppOptions, 'environment'> = {},
): Promise<Setup> {
  const upstream = await startStubUpstream();
  const app = await createTestApp({
    ...options,
    environment: {
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      ...environment,
    },
  });
  return {
    app,
    upstream,
    close: async () => {
      try {
        await app.close();
      } finally {
        await upstream.close();
      }
    },
  };
}

/** A body may be given as text, for what JSON.stringify would not write. */
export function embed(app: TestApp, body: object | string, key = app.apiKey): Test {
  return app.http
    .post(EMBEDDINGS)
    .set('authorization', `Bearer ${key}`)
    .set('content-type', 'application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
}

export function answerOf(response: Response): EmbeddingsAnswer {
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  return response.body as EmbeddingsAnswer;
}

export function embeddingsOf(response: Response): unknown[] {
  return answerOf(response).data.map(({ embedding }) => embedding);
}

/** Answers with these embeddings, written as they are given. */
export function answerWithEmbeddings(
  embeddings: readonly string[],
  usage: object = { prompt_tokens: 5, total_tokens: 5 },
): StubHandler {
  const data = embeddings.map((text, index) => `{"object":"embedding","index":${index},"embedding":${text}}`);
  return (_request, response) =>
    sendJson(
      response,
      200,
      `{"object":"list","data":[${data.join(',')}],"model":"m","usage":${JSON.stringify(usage)}}`,
    );
}

/** Answers every call with this status and body. */
export function rejectWith(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): StubHandler {
  return (_request, response) => sendJson(response, status, body, headers);
}
