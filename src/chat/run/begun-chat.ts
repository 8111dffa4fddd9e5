// The ways in which a request to one endpoint begins its answer, or ends without one.
import { endingOf } from '../../domain/ending.js';
import type { EndFacts, Ending } from '../../domain/ending.js';
import type { BegunAnswer } from '../../routing/chat/chat-router.js';
import type { ChatAnswer } from '../stream/chat-answer.js';
import type { ChatPump } from '../stream/chat-pump.js';
import type { ChatStreamRelay } from '../stream/chat-stream-relay.js';
import type { ReceivedAnswer } from './call-usage.js';
import type { ChatState } from './chat-state.js';

interface BegunStream extends BegunAnswer {
  readonly kind: 'stream';
  readonly relay: ChatStreamRelay;
  readonly pump: ChatPump;
}

interface BegunWhole extends BegunAnswer {
  readonly kind: 'whole';
  readonly answer: ChatAnswer;
}

/** No answer began. */
interface EndedExchange extends BegunAnswer {
  readonly kind: 'ended';
  readonly ending: Ending;
  readonly received: ReceivedAnswer;
  /** Of the limit that ended it. */
  readonly message: string;
}

export type Begun = BegunStream | BegunWhole | EndedExchange;

/** This service or the caller ended the exchange before its answer began. */
export function endedHere(
  state: Pick<ChatState, 'callerGone' | 'stop'>,
  { limit, message }: { readonly limit: EndFacts['limit']; readonly message: string },
  received: ReceivedAnswer,
): EndedExchange {
  const { callerGone: caller, stop } = state;
  const ending = endingOf({ hasContent: false, isComplete: false, caller, stop, limit });
  return { kind: 'ended', ending, received, message, status: null };
}
