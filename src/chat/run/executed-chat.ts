// The stages of a chat call after its provider has answered.
import type { ChatRoute } from '../../routing/chat/chat-planner.js';
import type { RoutedChat } from '../../routing/chat/chat-router.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { ChatCharge } from '../charges/chat-charge.js';
import type { EndedAnswer } from './answer-end.js';
import type { SettledUsage } from './chat-ending.js';
import type { Begun } from './chat-exchange.js';

/** A call whose provider has answered, or failed to. */
export interface ExecutedChat extends EndedAnswer {
  readonly route: ChatRoute;
  readonly routed: RoutedChat<Begun>;
}

export interface SettledChat extends ExecutedChat {
  readonly target: ChatTarget;
  readonly usage: SettledUsage;
  readonly charged: ChatCharge;
}
