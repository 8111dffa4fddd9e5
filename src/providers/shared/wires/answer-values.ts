// Values of an answer that every wire reads in the same way.
import type { ChatWire } from '../chat-wire.js';
import type { ProviderError } from '../upstream.js';

/** Bytes of JSON: a longer value is no usage, no id and no word. */
export const MAX_SMALL = 65_536;
export const ENDED_WITH_ERROR = 'the provider ended the answer with an error';

/** `document`: JSON of an error inside an answer. */
export function errorOf(document: Buffer, wire: Pick<ChatWire, 'readError'>): ProviderError {
  const error = wire.readError({ status: 200, headers: {}, body: document });
  return error.message === '' ? { ...error, message: ENDED_WITH_ERROR } : error;
}
