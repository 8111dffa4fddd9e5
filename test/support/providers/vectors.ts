// The vectors of the stubs. A vector identifies its input, has length one, and is shorter when it is cut, so that a
// missing normalisation shows.
import { createHash } from 'node:crypto';
import { toBase64 } from '../upstreams/stub-upstream.js';

const HEAD = 0.8;
const TAIL = Math.fround(0.6);
const BYTES_OF_A_NUMBER = 4;

/** The vector of an input at its full width. */
function fullVector(content: unknown, width: number): number[] {
  const angle =
    (createHash('sha256').update(JSON.stringify(content)).digest().readUInt16BE(0) / 65_536) * Math.PI;
  const vector = Array.from({ length: width }, () => 0);
  vector[0] = Math.fround(HEAD * Math.cos(angle));
  vector[1] = Math.fround(HEAD * Math.sin(angle));
  vector[width - 1] = TAIL;
  return vector;
}

/** The first numbers of it, as they are. */
export function cutVector(content: unknown, fullWidth: number, width: number): number[] {
  return fullVector(content, fullWidth).slice(0, width);
}

/** The vector of an input as a model gives it that is asked for a width: cut, and scaled to length one. */
export function vectorOf(content: unknown, fullWidth: number, width: number = fullWidth): number[] {
  if (width === fullWidth) return fullVector(content, fullWidth);
  return cutVector(content, fullWidth, width).map((value) => Math.fround(value / HEAD));
}

export function encode(vector: readonly number[], format: unknown): readonly number[] | string {
  return format === 'base64' ? toBase64(vector) : vector;
}

/** The numbers of a vector in either form. */
export function decode(embedding: readonly number[] | string): readonly number[] {
  if (typeof embedding !== 'string') return embedding;
  const bytes = Buffer.from(embedding, 'base64');
  return Array.from({ length: Math.floor(bytes.length / BYTES_OF_A_NUMBER) }, (_value, at) =>
    bytes.readFloatLE(at * BYTES_OF_A_NUMBER),
  );
}

/** Words count as tokens; everything else that is no token array counts as one. */
export function countTokens(content: unknown): number {
  if (typeof content === 'string') return content.split(/\s+/).filter(Boolean).length;
  return Array.isArray(content) ? content.length : 1;
}

export function countAllTokens(contents: readonly unknown[]): number {
  return contents.reduce<number>((sum, content) => sum + countTokens(content), 0);
}

/** The body of OpenAI's answer, for the many that speak it. */
export function openAiAnswer(
  contents: readonly unknown[],
  options: {
    readonly model: unknown;
    readonly fullWidth: number;
    readonly width?: unknown;
    readonly format?: unknown;
    readonly usage?: (tokens: number) => Readonly<Record<string, number>> | undefined;
    readonly id?: string;
  },
): Record<string, unknown> {
  const { fullWidth, format, model, id } = options;
  const width = typeof options.width === 'number' ? options.width : fullWidth;
  const tokens = countAllTokens(contents);
  const usage = options.usage ?? ((count) => ({ prompt_tokens: count, total_tokens: count }));
  return {
    ...(id === undefined ? {} : { id }),
    object: 'list',
    data: contents.map((content, index) => ({
      object: 'embedding',
      embedding: encode(vectorOf(content, fullWidth, width), format),
      index,
    })),
    model,
    usage: usage(tokens),
  };
}

/** One input or several: OpenAI's wire takes both. */
export function contentsOf(input: unknown): readonly unknown[] {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
}
