// The failures of answers: as routing and the caller read them, and as metrics count them. And the id in an answer's headers.
import type { OutboundResponse } from '../../outbound/exchange/exchange.js';
import type { ChatWire } from '../../providers/shared/chat-wire.js';
import { recordableId } from '../../providers/shared/wire.js';
import { EndpointFailure } from '../../routing/failures/endpoint-failure.js';
import { failureOfError } from '../../routing/failures/exchange-failures.js';
import type { InnerNames } from '../../routing/failures/provider-words.js';
import type { ChatFailure } from '../stream/chat-failure.js';

const OK = 200;
/** Headers with the provider's id of an answer. The first that is present counts: a proxy adds its own after the provider's. */
const ID_HEADERS = [
  'request-id',
  'x-request-id',
  'apim-request-id',
  'mistral-correlation-id',
  'x-amzn-requestid',
  'cf-ray',
];

/** For answers whose body has no id; null: none (docs/contract.md#generations). */
export function upstreamIdIn({ headers }: Pick<OutboundResponse, 'headers'>): string | null {
  for (const name of ID_HEADERS) {
    const id = recordableId(headers[name]);
    if (id !== null && id !== '') return id;
  }
  return null;
}

/** Converts a failure inside an answer. */
export function failureOfAnswer(failure: ChatFailure, names: InnerNames): EndpointFailure {
  switch (failure.kind) {
    case 'provider_error': {
      const { error } = failure;
      return failureOfError(error.status ?? OK, error.status, error, names, null);
    }
    case 'broken_answer':
      return new EndpointFailure('broken', null, failure.message);
    case 'timeout':
      return new EndpointFailure('timeout', null, failure.message);
    case 'connection':
      return new EndpointFailure('failed', null, `the connection failed: ${failure.message}`);
  }
}

/** A success that is no stream: some servers put their error there. */
export function failureOfForm(wire: Pick<ChatWire, 'readError'>, response: OutboundResponse): ChatFailure {
  const hasError = /^\s*\[?\s*\{[^]*"error"/.test(response.body.toString('utf8', 0, 4_096));
  return hasError
    ? { kind: 'provider_error', error: wire.readError(response) }
    : { kind: 'broken_answer', message: 'the answer is no stream of events' };
}

/** Classifies the failure of a stream whose headers have not arrived. */
export function kindOfFailure({ failureClass, status }: EndpointFailure): ChatFailure['kind'] {
  if (failureClass === 'broken') return 'broken_answer';
  if (status !== null) return 'provider_error';
  return failureClass === 'timeout' || failureClass === 'own_timeout' ? 'timeout' : 'connection';
}
