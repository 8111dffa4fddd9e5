// A provider's chat API on loopback: streams what a test scripts, and notes when its client leaves.
import type { Generation } from '../../../src/domain/generations/generation.js';
import { Database } from '../../../src/persistence/database/database.js';
import { toGeneration } from '../../../src/persistence/generations/generation-row.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { createTestApp } from '../app/app.js';
import { eventually } from '../eventually.js';
import { answerChat } from './chat-answers.js';
import { startStubUpstream } from './stub-upstream.js';
import type { StubUpstream } from './stub-upstream.js';

export { beginStream, delta, sendEvent, text, usage, usageOnly } from '../chat/chat-events.js';
export { answerChat, HELLO, streamOf } from './chat-answers.js';

export const MODEL = 'openai/gpt-4.1-mini';

export interface ChatSetup {
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  close(): Promise<void>;
}

/** The service with OpenAI and Mistral at one stub. */
export async function startChat(
  environment: Readonly<Record<string, string>> = {},
  options: Omit<TestAppOptions, 'environment'> = {},
): Promise<ChatSetup> {
  const upstream = await startStubUpstream(answerChat);
  const app = await createTestApp({
    ...options,
    environment: {
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      MISTRAL_API_KEY: 'upstream-key',
      MISTRAL_BASE_URL: `${upstream.origin}/v1`,
      ...environment,
    },
  });
  return {
    app,
    upstream,
    close: async () => {
      await app.close();
      await upstream.close();
    },
  };
}

export interface ReadStream {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed `data` lines; `[DONE]` stays a text. */
  readonly events: readonly (StreamedChunk | '[DONE]')[];
  readonly comments: readonly string[];
  readonly text: string;
}

export interface StreamedChunk {
  readonly id: string;
  readonly model: string;
  readonly provider: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: { readonly content?: string | null };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
}

interface PostOptions {
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

export function postChat(
  app: TestApp,
  body: object,
  { key = app.apiKey, signal, headers = {} }: PostOptions = {},
): Promise<Response> {
  return fetch(`${app.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hi' }], ...body }),
    ...(signal ? { signal } : {}),
  });
}

export async function streamChat(
  app: TestApp,
  body: object = {},
  options: PostOptions = {},
): Promise<ReadStream> {
  return readStream(await postChat(app, { stream: true, ...body }, options));
}

async function readStream(response: Response): Promise<ReadStream> {
  const lines = (await response.text()).split('\n');
  const events = lines
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as StreamedChunk)));
  const chunks = events.filter((event) => event !== '[DONE]');
  return {
    status: response.status,
    headers: response.headers,
    events,
    comments: lines.filter((line) => line.startsWith(':')),
    text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
  };
}

/** The records of a key's chat calls, oldest first. */
export async function chatsOf(app: TestApp, apiKeyId = app.key.id): Promise<readonly Generation[]> {
  const { prisma } = app.application.get(Database);
  const rows = await prisma.generation.findMany({
    where: { apiKeyId },
    orderBy: [{ logTransaction: 'asc' }, { logOrdinal: 'asc' }],
  });
  return rows.map((row) => toGeneration(row));
}

/** Waits for the record of the only call of a key. */
export async function chatOf(app: TestApp, apiKeyId = app.key.id): Promise<Generation> {
  const [generation] = await eventually(
    () => chatsOf(app, apiKeyId),
    ({ length }) => length > 0,
  );
  if (!generation) throw new Error('there is no record');
  return generation;
}
