// The body of a client that speaks the Messages wire, for an endpoint of that wire: every value is the client's own bytes, but for
// the members that this service reads and the elements that no provider may get.
import type { NativeCut } from '../../../domain/chat/chat-request.js';
import { BodyAssembly } from '../body-assembly.js';
import type { ChatCall } from '../chat-wire.js';
import { withoutElements } from './list-cuts.js';

/** This service reads them, or they name objects of the operator's account. */
const NOT_SENT = new Set(
  (
    'model max_tokens models fallbacks provider route plugins session_id trace usage transforms ' +
    'workspace_id user_profile_id'
  ).split(' '),
);

/** `withLimit` false: a count of the prompt, which has no limit and no stream. */
export function nativeBody(
  { request, endpoint, maxOutputTokens }: ChatCall,
  withLimit = true,
): BodyAssembly | null {
  const { native } = request;
  if (native?.wire !== 'messages') return null;
  const body = new BodyAssembly();
  for (const edit of native.edits) body.edits.add(edit);
  for (const [name, value] of native.members) {
    const cuts = native.cuts.filter(({ member }) => member === name);
    if (name === 'model') body.add(name, JSON.stringify(endpoint.upstreamModel));
    else if (name === 'max_tokens' && withLimit) body.add(name, String(maxOutputTokens ?? value.toString()));
    else if (!NOT_SENT.has(name)) body.add(name, cuts.length === 0 ? value : cutValue(value, cuts));
  }
  return body;
}

function cutValue(value: Buffer, cuts: readonly NativeCut[]): Buffer {
  return withoutElements(value, new Map(cuts.map(({ index, inner }) => [index, inner])));
}
