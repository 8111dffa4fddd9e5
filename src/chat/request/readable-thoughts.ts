// Thoughts in the history of a request that their producer made for another endpoint or credential: it would refuse them.
import type { ChatMessage, ChatRequest, NativeCut, NativeRequest } from '../../domain/chat/chat-request.js';
import { isArray, isObject } from '../../domain/members.js';
import { signaturesIn, signedThought } from '../../providers/shared/messages/reasoning-details.js';
import { THINKING } from '../../providers/shared/turns/earlier-thoughts.js';
import { thinkingCuts } from './messages/thoughts.js';
import { reasoningCuts } from './responses/earlier-reasoning.js';

/** Whether the endpoint reads a thought of its producer with this signature. */
type IsReadable = (signature: string) => boolean;

/** The same request where the endpoint reads all thoughts of this format. Others its wire leaves out. */
export function withReadableThoughts(
  request: ChatRequest,
  format: string,
  isReadable: IsReadable,
): ChatRequest {
  const isKept = (signed: ReturnType<typeof signedThought>): boolean =>
    signed === null || signed.format !== format || isReadable(signed.signature);
  if ([...signaturesIn(request.messages)].every(isKept)) return request;
  const messages = request.messages.map((message) => withReadableDetails(message, isKept));
  const native = request.native && withoutUnreadable(request.native, isReadable);
  return { ...request, messages, native };
}

/** The client's bytes: an endpoint of another wire than the client's gets none of them. */
function withoutUnreadable(native: NativeRequest, isReadable: IsReadable): NativeRequest {
  const cutsOf = (member: 'messages' | 'input', inMember: (list: unknown) => NativeCut[]): NativeCut[] => [
    ...inMember(JSON.parse(native.members.get(member)?.toString() ?? '[]')),
    ...native.cuts.filter((cut) => cut.member !== member),
  ];
  if (native.wire === 'chat') return native;
  if (native.wire === 'responses')
    return { ...native, cuts: cutsOf('input', (input) => reasoningCuts(input, isReadable)) };
  const cuts = cutsOf('messages', (turns) => thinkingCuts(turns as unknown[], isReadable));
  return { ...native, cuts, edits: [...new Set([...native.edits, THINKING])] };
}

/** The text of a thought stays without its signature: no wire sends it, and its loss is recorded. */
function withReadableDetails(
  message: ChatMessage,
  isKept: (signed: ReturnType<typeof signedThought>) => boolean,
): ChatMessage {
  const { reasoning_details: details } = message.body;
  if (!isArray(details)) return message;
  const kept = details.map((detail) => {
    if (isKept(signedThought(detail)) || !isObject(detail)) return detail;
    const { signature: _signature, data: _data, ...rest } = detail;
    return rest;
  });
  return { ...message, body: { ...message.body, reasoning_details: kept } };
}
