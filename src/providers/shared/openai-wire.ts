// OpenAI's embeddings wire, which many servers share: its request and answer.
import { operationUrl } from './address.js';
import { textsOrTokens } from './call-input.js';
import { BrokenAnswer } from './provider.js';
import type {
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ReportedUsage,
  UpstreamRequest,
  UpstreamResponse,
} from './provider.js';
import type { Vector } from '../../vectors/vectors.js';
import { JsonScanner } from '../../json/json-scanner.js';
import { asObject, bearer, eachVector, postJson, readTopMembers, recordableId, tokenCount } from './wire.js';

const ELEMENT = { name: 'embedding', whenMissing: 'an element of data has no embedding' };

export function buildOpenAiRequest(call: ProviderCall, connection: ProviderConnection): UpstreamRequest {
  return postJson(operationUrl(connection.baseUrl, '/embeddings'), bearer(connection.apiKey), {
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
  const { promptTokens, totalTokens } = usageOf(usage);
  return { vectors, promptTokens, totalTokens, upstreamId: recordableId(id) };
}

export function readOpenAiUsage(response: UpstreamResponse): ReportedUsage {
  return usageOf(readTopMembers(response, ['usage'])['usage']);
}

/** `{prompt_tokens, total_tokens}`; some servers name the first as newer APIs do. */
export function usageOf(usage: unknown): Pick<ReportedUsage, 'promptTokens' | 'totalTokens'> {
  const {
    prompt_tokens: promptTokens,
    input_tokens: inputTokens,
    total_tokens: totalTokens,
  } = asObject(usage);
  return {
    promptTokens: tokenCount(promptTokens) ?? tokenCount(inputTokens),
    totalTokens: tokenCount(totalTokens),
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
