// The body of a client that speaks the Messages wire, for an endpoint of that wire: every value is the client's own bytes, but for
// the members that this service reads and the elements that no provider may get.
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatRequest, NativeCut, NativeRequest } from '../../../domain/chat/chat-request.js';
import { isObject } from '../../../domain/members.js';
import { lostSearch, searchEdits } from '../chat/chat-problems.js';
import type { BodyAssembly } from '../body-assembly.js';
import type { ChatCall } from '../chat-wire.js';
import { withoutCuts } from '../../../json/list-cuts.js';
import { hasForeignCalls } from './thinking.js';

/** This service reads them, or they name objects of the operator's account. */
const NOT_SENT = new Set(
  (
    'model max_tokens models fallbacks provider route plugins session_id trace usage transforms ' +
    'workspace_id user_profile_id'
  ).split(' '),
);

/** `withLimit` false: a count of the prompt, which has no limit and no stream. */
export function addNativeMembers(
  body: BodyAssembly,
  { request, endpoint, maxOutputTokens }: ChatCall,
  native: NativeRequest,
  withLimit = true,
): void {
  const search = lostSearch(native, endpoint, 'messages');
  for (const edit of [...native.edits, ...searchEdits(search)]) body.edits.add(edit);
  const cuts: readonly NativeCut[] = search
    ? [...native.cuts, { member: 'tools', index: search.index, inner: null }]
    : native.cuts;
  for (const [name, value] of native.members) {
    if (name === 'thinking' && isRefused(value, request, endpoint)) {
      body.add(name, '{"type":"disabled"}');
      body.edits.add(name);
    } else if (name === 'model') body.add(name, JSON.stringify(endpoint.upstreamModel));
    else if (name === 'max_tokens' && withLimit) body.add(name, String(maxOutputTokens ?? value.toString()));
    else if (!NOT_SENT.has(name)) body.add(name, withoutCuts(name, value, cuts));
  }
}

/** A budget of thoughts, where the turn of calls that goes on has lost its thought: the provider wants one there. */
function isRefused(thinking: Buffer, { messages, native }: ChatRequest, { wire }: ChatEndpoint): boolean {
  if (wire?.thinking !== 'budget' || !native?.cuts.some(({ member }) => member === 'messages')) return false;
  const settings: unknown = JSON.parse(thinking.toString());
  return isObject(settings) && settings['type'] === 'enabled' && hasForeignCalls(messages);
}
