// Checks an answer as it arrived on the wire. Every check returns null, or a description of the problem.
import { decode, vectorOf } from '../../test/support/providers/vectors.js';
import type { Answer } from './gateway.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';

export type Problem = string | null;

const MOST_SHOWN = 110;
// The tolerance for a number that was scaled or written in decimals.
const TOLERANCE = 1e-6;

export interface ExpectedVectors {
  readonly width?: number;
  readonly format?: 'float' | 'base64';
}

/** One vector for each content, in order, with the requested width and form. */
export function assertVectors(
  answer: Answer,
  row: ProviderRow,
  contents: readonly unknown[],
  { width = row.width, format = 'float' }: ExpectedVectors = {},
): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { data } = asObject(answer.json);
  if (!Array.isArray(data)) return 'no data in the answer';
  if (data.length !== contents.length) return `${data.length} vector(s) for ${contents.length} input(s)`;
  for (const [nth, content] of contents.entries()) {
    const { index, embedding } = asObject(data[nth]);
    if (index !== nth) return `index ${String(index)} at position ${nth}`;
    const isExpected = format === 'base64' ? typeof embedding === 'string' : Array.isArray(embedding);
    if (!isExpected) return `${Array.isArray(embedding) ? 'numbers' : typeof embedding} and not ${format}`;
    const numbers = decode(embedding as readonly number[] | string);
    const problem = assertNumbers(numbers, vectorOf(content, row.width, width));
    if (problem !== null) return `vector ${nth}: ${problem}`;
  }
  return null;
}

function assertNumbers(found: readonly number[], expected: readonly number[]): Problem {
  if (found.length !== expected.length) return `${found.length} numbers and not ${expected.length}`;
  const isRight = expected.every((value, at) => Math.abs(value - (found[at] ?? NaN)) < TOLERANCE);
  return isRight ? null : 'not that of its input';
}

/** `tokens` is the upstream's count; null: it reported none, and any count is accepted. */
export function assertUsage(answer: Answer, tokens: number | null): Problem {
  if (answer.status !== 200) return describeAnswer(answer);
  const { prompt_tokens: prompt, total_tokens: total } = asObject(asObject(answer.json)['usage']);
  const isRight =
    tokens === null
      ? Number.isInteger(prompt) && Number(prompt) > 0 && total === prompt
      : prompt === tokens && total === tokens;
  return isRight
    ? null
    : `prompt_tokens ${String(prompt)}, total_tokens ${String(total)}; right: ${tokens ?? 'more than 0'}`;
}

/** An error with one of the statuses, as JSON, with a message and without vectors. */
export function assertError(answer: Answer, isExpected: (status: number) => boolean): Problem {
  if (!isExpected(answer.status)) return `status ${describeAnswer(answer)}`;
  const { error, data } = asObject(answer.json);
  if (data !== undefined) return 'an error that has data';
  const { message } = asObject(error);
  return typeof message === 'string' && message !== '' ? null : 'no error.message in the answer';
}

export function describeAnswer({ status, text, json }: Answer): string {
  if (status === 200) return '200 with an answer';
  const { error, message } = asObject(json);
  const said = asObject(error)['message'] ?? message;
  return `${status}: ${typeof said === 'string' ? said : text}`.replace(/\s+/g, ' ').slice(0, MOST_SHOWN);
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
