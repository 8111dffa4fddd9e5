// One chat call of the load, checked word by word and cent by cent.
import { request } from 'undici';
import type { Lab } from '../lab.js';
import { complain, noteRejection, toUuid } from '../load-report.js';
import type { LoadReport } from '../load-report.js';
import type { Replica } from '../replica.js';
import { wordsOf } from './provider.js';
import type { ChatScript } from './provider.js';

export interface ChatLoad extends Partial<ChatScript> {
  /** The part of the calls that stream, by chance. */
  readonly streamed?: number;
  /** The client leaves at a random moment of so many milliseconds; absent: it stays. */
  readonly leavesWithin?: number;
  readonly models?: readonly string[];
}

const MODEL = 'openai/gpt-4.1-mini';
// Picodollars a token.
const PROMPT_PRICE = 400_000;
const COMPLETION_PRICE = 1_600_000;
const PICODOLLARS = 1e12;
export const SCRIPT: ChatScript = {
  chunks: 10,
  pause: 10,
  promptTokens: 50,
  stallsAfter: null,
  waitsFor: null,
  ends: 'complete',
};
const TIMEOUT_MS = 90_000;
const END = 'data: [DONE]\n\n';

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[];
  readonly usage?: { readonly cost?: number };
  readonly error?: { readonly code: number };
}

interface WholeAnswer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly cost?: number };
}

interface Answer {
  readonly generation: string;
  readonly latency: number;
  readonly text: string;
}

/** USD of a whole answer. */
export function costOf({ promptTokens, chunks }: ChatScript = SCRIPT): number {
  return (promptTokens * PROMPT_PRICE + chunks * COMPLETION_PRICE) / PICODOLLARS;
}

/** Whether it was answered in full. */
export async function callChat(
  lab: Lab,
  { baseUrl }: Replica,
  { key, streamed = 1, leavesWithin, models, ...partial }: ChatLoad & { readonly key: string },
  report: LoadReport,
): Promise<boolean> {
  const script: ChatScript = { ...SCRIPT, ...partial };
  const isStreamed = lab.random() < streamed;
  const leaving = new AbortController();
  const timer =
    leavesWithin === undefined ? null : setTimeout(() => leaving.abort(), lab.random() * leavesWithin);
  const startedAt = performance.now();
  let generation: string | null = null;
  let isStreaming = false;
  try {
    const { statusCode, headers, body } = await request(`${baseUrl}/chat/completions`, {
      method: 'POST',
      dispatcher: lab.agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...(models ? { models } : { model: MODEL }),
        messages: [{ role: 'user', content: JSON.stringify(script) }],
        max_tokens: script.chunks,
        stream: isStreamed,
      }),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: leaving.signal,
    });
    generation = toUuid(String(headers['x-generation-id'] ?? ''));
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      pieces.push(piece as Buffer);
      if (isStreaming || statusCode !== 200 || !isStreamed) continue;
      isStreaming = true;
      report.streaming++;
    }
    const latency = performance.now() - startedAt;
    const text = Buffer.concat(pieces).toString('utf8');
    if (statusCode !== 200) {
      noteRejection(report, statusCode, latency, text);
      return false;
    }
    const answer = { generation, latency, text };
    return isStreamed ? noteStream(answer, script, report) : noteWhole(answer, script, report);
  } catch {
    if (leaving.signal.aborted) report.left.push(generation);
    else report.broken++;
    return false;
  } finally {
    if (timer) clearTimeout(timer);
    if (isStreaming) report.streaming--;
  }
}

function noteStream(answer: Answer, script: ChatScript, report: LoadReport): boolean {
  const { text, latency, generation } = answer;
  if (!text.endsWith(END)) complain(report, `a stream ended without its end: ${text.slice(-200)}`);
  const chunks = text
    .slice(0, -END.length)
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk);
  const error = chunks.find((chunk) => chunk.error !== undefined)?.error;
  if (error) {
    report.failedStreams.push({ generation, code: error.code });
    noteRejection(report, error.code, latency, text);
    return false;
  }
  const usages = chunks.filter(({ usage }) => usage !== undefined);
  if (usages.length !== 1) complain(report, `${usages.length} chunks with usage: ${text.slice(-400)}`);
  const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  return noteAnswer(answer, words, usages[0]?.usage?.cost, script, report);
}

function noteWhole(answer: Answer, script: ChatScript, report: LoadReport): boolean {
  const { choices, usage } = JSON.parse(answer.text) as WholeAnswer;
  return noteAnswer(answer, choices[0]?.message.content ?? '', usage.cost, script, report);
}

function noteAnswer(
  { generation, latency }: Answer,
  words: string,
  cost: number | undefined,
  script: ChatScript,
  report: LoadReport,
): boolean {
  if (words !== wordsOf(script)) complain(report, `words of another call: ${words.slice(0, 200)}`);
  if (cost !== costOf(script)) complain(report, `a call cost ${cost} USD instead of ${costOf(script)} USD`);
  report.seen.push({ generation, cost: cost ?? Number.NaN, at: performance.now(), latency });
  return true;
}
