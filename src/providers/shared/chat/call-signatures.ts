// Signatures of thoughts that must come back with their tool calls. Clients that keep only members they know lose a member of
// a tool call, so that answers repeat each signature in `reasoning_details`, and requests read it from there
// (docs/contract.md#chat-streams).
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../../domain/members.js';

export interface CallSignatures {
  /** The format of a detail. */
  readonly format: string;
  /** Null: the call has none. */
  read(call: JsonObject): string | null;
  write(call: JsonObject, signature: string): JsonObject;
  /** For the first call of a message that lost its signature; null: the endpoint needs none. */
  placeholder(endpoint: ChatEndpoint): string | null;
}

const ENCRYPTED = 'reasoning.encrypted';

/** `index`: of the detail in its choice. */
export function signatureDetail(
  format: string,
  { id, data, index }: { readonly id: string; readonly data: string; readonly index: number },
): JsonObject {
  return { type: ENCRYPTED, data, id, format, index };
}

/** The same object when nothing changes. Details whose signatures are in the calls are removed. */
export function withSignedCalls(
  body: JsonObject,
  signatures: CallSignatures,
  endpoint: ChatEndpoint,
): JsonObject {
  const { tool_calls: calls, reasoning_details: details } = body;
  if (!isArray(calls)) return body;
  const byId = signaturesById(details, signatures.format);
  const placeholder = signatures.placeholder(endpoint);
  // Parallel calls have one signature, with the first of them.
  const signed = calls.map((call, index) => {
    if (!isObject(call) || signatures.read(call) !== null) return call;
    const { id } = call;
    const known = typeof id === 'string' ? byId.get(id) : undefined;
    const signature = known ?? (index === 0 ? placeholder : null);
    return signature === null ? call : signatures.write(call, signature);
  });
  const others = isArray(details)
    ? details.filter((detail) => signatureOf(detail, signatures.format) === null)
    : [];
  const isUnchanged = signed.every((call, index) => call === calls[index]) && byId.size === 0;
  if (isUnchanged) return body;
  const { reasoning_details: _read, ...rest } = body;
  const kept = byId.size === 0 ? body : rest;
  return {
    ...kept,
    tool_calls: signed,
    ...(byId.size > 0 && others.length > 0 && { reasoning_details: others }),
  };
}

function signaturesById(details: JsonValue | undefined, format: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const detail of isArray(details) ? details : []) {
    const signature = signatureOf(detail, format);
    if (signature !== null) found.set(signature.id, signature.data);
  }
  return found;
}

function signatureOf(
  detail: JsonValue,
  format: string,
): { readonly id: string; readonly data: string } | null {
  if (!isObject(detail) || detail['type'] !== ENCRYPTED) return null;
  const { id, data, format: own } = detail;
  // Clients may lose the format.
  const isForeign = own !== undefined && own !== null && own !== format;
  return isForeign || typeof id !== 'string' || typeof data !== 'string' ? null : { id, data };
}
