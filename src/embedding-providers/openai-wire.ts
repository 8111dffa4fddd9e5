// The embeddings wire of OpenAI, which many others speak too: its request, its answer and its errors.
import { BrokenAnswer } from './embedding-provider.js';
import type {
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  UpstreamRequest,
  UpstreamResponse,
} from './embedding-provider.js';
import type { Vector } from '../domain/vectors.js';
import { JsonCursor } from './json-cursor.js';

export function buildOpenAiRequest(call: ProviderCall, connection: ProviderConnection): UpstreamRequest {
  return {
    method: 'POST',
    url: `${connection.baseUrl}/embeddings`,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(connection.apiKey === undefined ? {} : { authorization: `Bearer ${connection.apiKey}` }),
    },
    body: JSON.stringify({
      ...call.extra,
      model: call.upstreamModel,
      input: call.input.items,
      encoding_format: call.encodingFormat,
      ...(call.dimensions === undefined ? {} : { dimensions: call.dimensions }),
      ...(call.user === undefined ? {} : { user: call.user }),
    }),
  };
}

/**
 * Reads the answer in one pass over its bytes: vectors stay slices of them, only the small rest becomes values.
 * Vectors are put where their `index` says.
 */
export function readOpenAiAnswer(response: UpstreamResponse): ProviderAnswer {
  const cursor = new JsonCursor(response.body);
  let vectors: Vector[] | null = null;
  let usage: unknown = null;
  let id: unknown = null;
  cursor.eachMember((name) => {
    if (name === 'data') vectors = readData(cursor);
    else if (name === 'usage') usage = cursor.value();
    else if (name === 'id') id = cursor.value();
    else cursor.skipValue();
  });
  cursor.end();
  if (vectors === null) throw new BrokenAnswer('the answer has no data');
  return {
    vectors,
    promptTokens: countOf(usage, 'prompt_tokens'),
    totalTokens: countOf(usage, 'total_tokens'),
    upstreamId: typeof id === 'string' ? id : null,
  };
}

/** `{error: {message, code, type}}`, and the shapes that look-alikes answer with. */
export function readOpenAiError(response: UpstreamResponse): ProviderError {
  const text = response.body.toString('utf8', 0, 16_384);
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    // A proxy's page or a cut body: its text is all there is.
  }
  const outer = asObject(parsed);
  const error = asObject(outer['error'] ?? parsed);
  const message = [error['message'], outer['error'], outer['detail'], outer['message']].find(
    (candidate) => typeof candidate === 'string',
  );
  const code = error['code'] ?? error['type'];
  return {
    message: typeof message === 'string' ? message : text,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : null,
  };
}

function readData(cursor: JsonCursor): Vector[] {
  const placed: Vector[] = [];
  let position = 0;
  cursor.eachElement(() => {
    let vector: Vector | null = null;
    let index: unknown = position++;
    cursor.eachMember((name) => {
      if (name === 'embedding') vector = readVector(cursor);
      else if (name === 'index') index = cursor.value();
      else cursor.skipValue();
    });
    if (vector === null) throw new BrokenAnswer('an element of data has no embedding');
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || placed[index] !== undefined) {
      throw new BrokenAnswer('the indexes of data are not 0 to N-1');
    }
    placed[index] = vector;
  });
  // A hole means that some index was beyond the end.
  if (placed.length !== position) throw new BrokenAnswer('the indexes of data are not 0 to N-1');
  return placed;
}

function readVector(cursor: JsonCursor): Vector {
  return cursor.isString()
    ? { form: 'base64', text: cursor.plainString() }
    : { form: 'json', text: cursor.flatArray() };
}

function countOf(usage: unknown, name: string): number | null {
  const count = asObject(usage)[name];
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : null;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
