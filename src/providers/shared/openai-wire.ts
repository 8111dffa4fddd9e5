// OpenAI's embeddings wire, which many servers share: its request, answer and errors.
import { textsOrTokens } from './call-input.js';
import { BrokenAnswer } from './provider.js';
import type {
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  UpstreamRequest,
  UpstreamResponse,
} from './provider.js';
import type { Vector } from '../../vectors/vectors.js';
import { JsonScanner } from '../../vectors/json-scanner.js';
import {
  asObject,
  bearer,
  eachVector,
  errorText,
  parseErrorBody,
  postJson,
  recordableId,
  tokenCount,
} from './wire.js';

const ELEMENT = { name: 'embedding', whenMissing: 'an element of data has no embedding' };

/** Problems of the upstream account whose status, 429 or 400, means something else. */
const CREDENTIAL_CODES: ReadonlySet<unknown> = new Set([
  'insufficient_quota',
  'billing_not_active',
  'billing_hard_limit_reached',
  'invalid_api_key',
  'account_deactivated',
]);

export function buildOpenAiRequest(call: ProviderCall, connection: ProviderConnection): UpstreamRequest {
  return postJson(`${connection.baseUrl}/embeddings`, bearer(connection.apiKey), {
    ...call.extra,
    model: call.upstreamModel,
    input: textsOrTokens(call),
    encoding_format: call.encodingFormat,
    // Without given(): a caller's own members of these names are never among the extra ones.
    dimensions: call.dimensions,
    user: call.user,
  });
}

/**
 * Reads the answer in one pass over its bytes: vectors stay slices of them, only the small rest becomes values. Places
 * each vector at its `index`.
 */
export function readOpenAiAnswer(response: UpstreamResponse): ProviderAnswer {
  const cursor = new JsonScanner(response.body, BrokenAnswer);
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
    promptTokens: tokenCount(asObject(usage)['prompt_tokens']),
    totalTokens: tokenCount(asObject(usage)['total_tokens']),
    upstreamId: recordableId(id),
  };
}

/** `{error: {message, code, type}}`, and the shapes of compatible servers. */
export function readOpenAiError(response: UpstreamResponse): ProviderError {
  const outer = parseErrorBody(response);
  const error = asObject(outer['error'] ?? outer);
  const message = [error['message'], outer['error'], outer['detail'], outer['message']].find(
    (candidate) => typeof candidate === 'string',
  );
  const code = error['code'] ?? error['type'];
  return {
    message: typeof message === 'string' ? message : errorText(response),
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : null,
    ...(CREDENTIAL_CODES.has(code) ? { kind: 'credential' } : {}),
  };
}

function readData(cursor: JsonScanner): Vector[] {
  const placed: Vector[] = [];
  const count = eachVector(cursor, ELEMENT, (vector, index) => {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || placed[index] !== undefined) {
      throw new BrokenAnswer('the indexes of data are not 0 to N-1');
    }
    placed[index] = vector;
  });
  // A hole means that an index was beyond the end.
  if (placed.length !== count) throw new BrokenAnswer('the indexes of data are not 0 to N-1');
  return placed;
}
