// The body of a client that speaks the Responses wire, for an endpoint of that wire: every value is the client's own bytes, but for the
// members that this service reads and the elements that no provider may get.
import type { ChatRequest } from '../../../domain/chat/chat-request.js';
import { canonicalServiceTier } from '../../../domain/chat/service-tier.js';
import { withoutCuts } from '../../../json/list-cuts.js';
import { BodyAssembly } from '../body-assembly.js';
import type { ChatCall } from '../chat-wire.js';
import { INPUT_REASONING } from '../turns/earlier-thoughts.js';

/** This service reads or writes them. */
const NOT_SENT: ReadonlySet<string> = new Set(
  'models provider route plugins session_id trace usage transforms stream_options workspace_id'.split(' '),
);
/** Settings of OpenRouter's that the wire does not have. */
const OPEN_SAMPLING: ReadonlySet<string> = new Set(['top_k', 'frequency_penalty', 'presence_penalty']);

interface PassingTraits {
  readonly members?: ReadonlySet<string>;
}

/** Of a client of the wire whose bytes pass. */
export function nativeBody(call: ChatCall, traits: PassingTraits): BodyAssembly {
  const { request, endpoint, maxOutputTokens: limit } = call;
  const members = request.native?.members ?? new Map<string, Buffer>();
  const body = new BodyAssembly();
  for (const edit of lostInPassing(request, traits)) body.edits.add(edit);
  for (const [name, value] of members) {
    if (name === 'model') body.add(name, JSON.stringify(endpoint.upstreamModel));
    else if (name === 'service_tier' && request.serviceTier !== null)
      body.add(name, JSON.stringify(canonicalServiceTier(request.serviceTier)));
    else if (name === 'max_output_tokens' && limit !== null && Number(value) !== limit)
      body.add(name, String(limit));
    else if (!NOT_SENT.has(name) && !isDropped(name, traits))
      body.add(name, withoutCuts(name, value, request.native?.cuts ?? []));
  }
  if (!members.has('model')) body.add('model', JSON.stringify(endpoint.upstreamModel));
  if (!members.has('max_output_tokens') && limit !== null) body.add('max_output_tokens', String(limit));
  // Its default is true: nothing may stay at the provider.
  if (!members.has('store')) body.add('store', 'false');
  return body;
}

/** Parts of a request that do not pass although its bytes do, as attempts record them. */
export function lostInPassing({ native }: ChatRequest, traits: PassingTraits): readonly string[] {
  if (native === null) return [];
  const dropped = [...native.members.keys()].filter((name) => !NOT_SENT.has(name) && isDropped(name, traits));
  const isThoughtCut = native.cuts.some(({ member }) => member === 'input');
  return [...native.edits, ...(isThoughtCut ? [INPUT_REASONING] : []), ...dropped];
}

function isDropped(name: string, { members }: PassingTraits): boolean {
  return members === undefined ? OPEN_SAMPLING.has(name) : !members.has(name);
}
