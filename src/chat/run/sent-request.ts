// The request as one endpoint gets it.
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import type { OutboundRequest } from '../../outbound/exchange/exchange.js';
import type { ChatUpstreamRequest } from '../../providers/shared/chat-wire.js';
import { madeBy } from '../../routing/chat/reasoning-origins.js';
import { protocolOf } from '../../routing/endpoint-target.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { withReadableThoughts } from '../request/readable-thoughts.js';
import type { ChatState } from './chat-state.js';

/** Without thoughts that another endpoint or credential made: the provider would refuse them. */
export function readableAt(target: ChatTarget, { request, reasoning }: ChatState): ChatRequest {
  const producer = producerBehind(protocolOf(target));
  if (reasoning === null || producer === null) return request;
  const { origin, makers } = reasoning;
  return withReadableThoughts(request, producer.format, (signature) =>
    madeBy(makers.get(signature) ?? origin, target),
  );
}

/** The answer must not be compressed: a stream is read as it comes. */
export function outbound({ method, url, headers, body }: ChatUpstreamRequest): OutboundRequest {
  return { method, url, headers: { ...headers, 'accept-encoding': 'identity' }, body: Buffer.concat(body) };
}

/** Also where client and provider speak one wire. */
export function isTranslated({ wire, endpoint }: ChatTarget, request: ChatRequest): boolean {
  return 'protocol' in wire && wire.translates?.(request, endpoint) === true;
}
