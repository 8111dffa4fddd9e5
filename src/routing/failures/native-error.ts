// A provider's error in its own bytes: clients of the same wire recover by its words (docs/contract.md#messages-errors, #responses-errors).
import type { NativeError } from '../../domain/errors.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import type { UpstreamResponse } from '../../providers/shared/provider.js';
import { asObject, parseErrorBody } from '../../providers/shared/wire.js';
import type { FailureClass } from './failure-classes.js';
import { hasInnerNames } from './provider-words.js';
import type { InnerNames } from './provider-words.js';

const STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 429]);
const MAX_BYTES = 65_536;
/** Errors about the request itself, and limits of its rate: others are about the operator. */
const CLASSES: ReadonlySet<FailureClass> = new Set([
  'refused',
  'context_length',
  'too_large',
  'rate_limited',
]);

/** Null: the body is no error of the wire, or has a secret or an inner name of the operator's. */
export function nativeErrorOf(
  wire: ModelWire,
  response: UpstreamResponse,
  names: InnerNames,
): NativeError | null {
  const { status, body } = response;
  if (wire === 'chat' || !STATUSES.has(status) || body.length > MAX_BYTES) return null;
  const members = parseErrorBody(response);
  // Escapes of JSON may hide a name from the search in the bytes.
  const isOpen = [body.toString(), JSON.stringify(members)].some((text) => hasInnerNames(text, names));
  return isOfWire(wire, members) && !isOpen ? { wire, status, body } : null;
}

function isOfWire(wire: ModelWire, { type, error }: Readonly<Record<string, unknown>>): boolean {
  return wire === 'messages' ? type === 'error' : typeof asObject(error)['message'] === 'string';
}

export function passesNatively(failureClass: FailureClass): boolean {
  return CLASSES.has(failureClass);
}
