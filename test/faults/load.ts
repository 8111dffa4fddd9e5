// Clients that call embeddings at a given rate, and record every response: status, cost, duration, and calls with an
// unknown outcome.
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import type { Lab } from './lab.js';
import type { Replica } from './replica.js';

export interface SeenAnswer {
  readonly generation: string;
  readonly cost: number;
  /** performance.now() */
  readonly at: number;
  readonly latency: number;
}

export interface LoadReport {
  readonly seen: SeenAnswer[];
  /** How often each status came that is not 200. */
  readonly rejections: Map<number, number>;
  /** Calls whose connection broke before the answer was whole. */
  broken: number;
  /** Answers that should never have come, in words. */
  readonly wrong: string[];
  /** Milliseconds that refusals with 503 took. */
  readonly rejectionLatencies: number[];
}

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
}

// Possible statuses while something is broken. Never 500, never another 4xx.
const EXPECTED = new Set([402, 408, 429, 502, 503, 524, 529]);
const MODEL = 'openai/text-embedding-3-small';
const MAX_WRONG = 20;

export function startLoad(lab: Lab, options: LoadOptions = {}): Load {
  const { clients = 16, pause: between = 0, pauseAfterFailure = 20, replicas = lab.replicas } = options;
  const report: LoadReport = {
    seen: [],
    rejections: new Map(),
    broken: 0,
    wrong: [],
    rejectionLatencies: [],
  };
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

interface EmbeddingsAnswer {
  readonly data: readonly { readonly index: number; readonly embedding: readonly number[] }[];
  readonly usage: { readonly cost?: number };
}

/** Whether it was answered with vectors. */
export async function callOnce(
  lab: Lab,
  { baseUrl }: Replica,
  { key = lab.keys.apiKey, sizes = [1], dimensions = 8, model = MODEL }: LoadOptions,
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
    report.rejections.set(status, (report.rejections.get(status) ?? 0) + 1);
    if (status === 503) report.rejectionLatencies.push(latency);
    if (!EXPECTED.has(status)) complain(report, `status ${status}: ${text.slice(0, 200)}`);
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

function complain({ wrong }: LoadReport, text: string): void {
  if (wrong.length < MAX_WRONG) wrong.push(text);
}

function toUuid(header: string): string {
  return header.replace(/^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function totalRejections({ rejections }: LoadReport): number {
  return [...rejections.values()].reduce((sum, count) => sum + count, 0);
}

export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
}
