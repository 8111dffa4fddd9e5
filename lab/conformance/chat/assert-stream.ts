// Checks a stream as it arrived on the wire. Every check returns null, or a description of the problem.
import { describeAnswer, asObject } from '../assert-answer.js';
import type { Problem } from '../assert-answer.js';
import type { Answer } from '../gateway.js';

type Chunk = Readonly<Record<string, unknown>>;

export interface ExpectedStream {
  /** The text of each choice. */
  readonly texts: readonly string[];
  readonly finish: string;
}

const DONE = '[DONE]';

/** The chunks of a complete stream of one-line events, or the problem with its form. */
export function readStream({ text }: Pick<Answer, 'text'>): {
  readonly chunks: Chunk[];
  readonly problem: Problem;
} {
  const chunks: Chunk[] = [];
  let isDone = false;
  for (const event of text.split('\n\n')) {
    if (event === '' || event.startsWith(':')) continue;
    if (isDone) return { chunks, problem: 'an event after [DONE]' };
    if (!event.startsWith('data: ')) return { chunks, problem: `no event: ${event.slice(0, 60)}` };
    const data = event.slice('data: '.length);
    if (data === DONE) isDone = true;
    else {
      try {
        chunks.push(JSON.parse(data) as Chunk);
      } catch {
        return { chunks, problem: `no JSON: ${data.slice(0, 60)}` };
      }
    }
  }
  return { chunks, problem: isDone ? null : 'no [DONE] at the end' };
}

const choicesOf = (chunks: readonly Chunk[]): Chunk[] =>
  chunks.flatMap(({ choices }) => (Array.isArray(choices) ? choices.map(asObject) : []));

/** The text of every choice, one finish reason for each, and [DONE]. */
export function assertStream(answer: Answer, { texts, finish }: ExpectedStream): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { chunks, problem } = readStream(answer);
  if (problem !== null) return problem;
  if (chunks.some(({ error }) => error !== undefined)) return 'an error in a good stream';
  const choices = choicesOf(chunks);
  for (const [index, text] of texts.entries()) {
    const own = choices.filter((choice) => (choice['index'] ?? 0) === index);
    const read = own.map(({ delta }) => textOf(asObject(delta)['content'])).join('');
    if (read !== text) return `choice ${index} is ${JSON.stringify(read)}`;
    const reasons = own
      .map(({ finish_reason: reason }) => reason)
      .filter((reason) => typeof reason === 'string');
    if (reasons.join() !== finish) return `finish reasons of choice ${index}: ${reasons.join() || 'none'}`;
  }
  return null;
}

/** Exactly one chunk with usage, and these numbers in it. */
export function assertOneUsage(answer: Answer, prompt: number, completion: number): Problem {
  const reports = readStream(answer).chunks.flatMap(({ usage }) => (usage ? [asObject(usage)] : []));
  if (reports.length !== 1) return `${reports.length} chunks with usage`;
  const { prompt_tokens: foundPrompt, completion_tokens: found } = reports[0] ?? {};
  return foundPrompt === prompt && found === completion
    ? null
    : `usage ${String(foundPrompt)}/${String(found)}`;
}

/** The text that came before the failure, then one chunk with an error, then [DONE]. */
export function assertFailedStream(answer: Answer, text: string): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { chunks, problem } = readStream(answer);
  const choices = choicesOf(chunks);
  const read = choices.map(({ delta }) => textOf(asObject(delta)['content'])).join('');
  if (!read.startsWith(text)) return `${JSON.stringify(read)} before the failure`;
  if (choices.some(({ finish_reason: reason }) => reason === 'stop')) return 'the finish reason stop';
  const errors = chunks.filter(({ error }) => error !== undefined && error !== null);
  if (errors.length !== 1) return `${errors.length} errors`;
  return problem;
}

/** Tool calls as clients assemble them. */
export function assertCalls(
  answer: Answer,
  expected: readonly { readonly name: string; readonly arguments: string }[],
): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { chunks, problem } = readStream(answer);
  if (problem !== null) return problem;
  const calls = new Map<unknown, { id: string; name: string; arguments: string }>();
  const choices = choicesOf(chunks);
  for (const { delta } of choices) {
    const { tool_calls: fragments } = asObject(delta);
    for (const fragment of Array.isArray(fragments) ? fragments.map(asObject) : []) {
      const { index, id, function: part } = fragment;
      if (!Number.isInteger(index)) return 'a fragment without an index';
      const call = calls.get(index) ?? { id: textOf(id), name: '', arguments: '' };
      const { name, arguments: text } = asObject(part);
      calls.set(index, {
        ...call,
        name: call.name || textOf(name),
        arguments: call.arguments + textOf(text),
      });
    }
  }
  const made = [...calls.values()];
  if (new Set(made.map(({ id }) => id)).size !== expected.length || made.some(({ id }) => id === ''))
    return `ids ${made.map(({ id }) => JSON.stringify(id)).join()}`;
  const functions = JSON.stringify(made.map(({ name, arguments: text }) => ({ name, arguments: text })));
  if (functions !== JSON.stringify(expected)) return `calls ${functions}`;
  const reasons = choices.flatMap(({ finish_reason: reason }) =>
    typeof reason === 'string' ? [reason] : [],
  );
  return reasons.join() === 'tool_calls' ? null : `finish reasons ${reasons.join()}`;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
