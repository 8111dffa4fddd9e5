// Clients that call embeddings or chat at a given rate, and report every response.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { callChat } from './chat/call.js';
import type { ChatLoad } from './chat/call.js';
import type { Lab } from './lab.js';
import { complain, createReport, noteRejection, toUuid } from './load-report.js';
import type { LoadReport } from './load-report.js';
import type { Replica } from './replica.js';

export interface Load {
  readonly report: LoadReport;
  /** Resolves when the calls in flight have ended. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly clients?: number;
  /** Milliseconds between the calls of one client. */
  readonly pause?: number;
  /** Milliseconds after a call that was not answered: a client that is refused does not spin. */
  readonly pauseAfterFailure?: number;
  readonly key?: string;
  /** Numbers of inputs, of which each call takes one by chance. */
  readonly sizes?: readonly number[];
  readonly dimensions?: number;
  readonly model?: string;
  readonly replicas?: readonly Replica[];
  /** Chats instead of embeddings. */
  readonly chat?: ChatLoad;
}

const MODEL = 'openai/text-embedding-3-small';

export function startLoad(lab: Lab, options: LoadOptions = {}): Load {
  const { clients = 16, pause: between = 0, pauseAfterFailure = 20, replicas = lab.replicas } = options;
  const report = createReport();
  const stopping = new AbortController();
  const ended = AbortSignal.any([stopping.signal, lab.signal]);
  setMaxListeners(0, ended);
  const run = async (client: number): Promise<void> => {
    for (let round = client; !ended.aborted; round++) {
      const replica = replicas[round % replicas.length];
      const isAnswered = replica !== undefined && (await callOnce(lab, replica, options, report));
      const rest = isAnswered ? between : Math.max(between, pauseAfterFailure);
      if (rest > 0) await pause(rest, undefined, { signal: ended }).catch(() => undefined);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_value, client) => run(client)));
  return {
    report,
    stop: async () => {
      stopping.abort();
      await running;
      lab.signal.throwIfAborted();
    },
  };
}

/** Sends so many calls at once, in turn to the replicas. */
export async function callAtOnce(
  lab: Lab,
  count: number,
  { replicas = lab.replicas, ...options }: LoadOptions,
  report: LoadReport,
): Promise<void> {
  const calls: Promise<boolean>[] = [];
  while (calls.length < count) {
    const replica = replicas[calls.length % replicas.length];
    if (!replica) throw new Error('there is no replica');
    calls.push(callOnce(lab, replica, options, report));
  }
  await Promise.all(calls);
}

/** Whether it was answered. */
export function callOnce(
  lab: Lab,
  replica: Replica,
  options: LoadOptions,
  report: LoadReport,
): Promise<boolean> {
  const { chat, key = lab.keys.apiKey } = options;
  return chat
    ? callChat(lab, replica, { ...chat, key }, report)
    : callEmbeddings(lab, replica, { ...options, key }, report);
}

interface EmbeddingsAnswer {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage: { readonly cost?: number };
}

async function callEmbeddings(
  lab: Lab,
  { baseUrl }: Replica,
  { key, sizes = [1], dimensions = 8, model = MODEL }: LoadOptions,
  report: LoadReport,
): Promise<boolean> {
  const count = sizes[Math.floor(lab.random() * sizes.length)] ?? 1;
  const input = Array.from({ length: count }, (_value, position) => `input ${position}`);
  const startedAt = performance.now();
  let status: number;
  let text: string;
  let generation: string;
  try {
    const answer = await request(`${baseUrl}/embeddings`, {
      method: 'POST',
      dispatcher: lab.agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, dimensions }),
      headersTimeout: 90_000,
      bodyTimeout: 90_000,
    });
    status = answer.statusCode;
    generation = String(answer.headers['x-generation-id'] ?? '');
    text = await answer.body.text();
  } catch {
    report.broken++;
    return false;
  }
  const at = performance.now();
  const latency = at - startedAt;
  if (status !== 200) {
    noteRejection(report, status, latency, text);
    return false;
  }
  const { data, usage } = JSON.parse(text) as EmbeddingsAnswer;
  const isRight =
    data.length === count &&
    data.every(
      ({ index, embedding }, position) =>
        index === position &&
        embedding.length === dimensions &&
        (model !== MODEL || embedding[0] === position + 1),
    );
  if (!isRight) complain(report, `vectors of another call: ${text.slice(0, 200)}`);
  report.seen.push({ generation: toUuid(generation), cost: usage.cost ?? Number.NaN, at, latency });
  return true;
}
