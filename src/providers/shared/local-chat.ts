// The contract of a chat model that runs inside this service.
import type { Pace } from '../../concurrency/yield-queue.js';
import type { ChatCall, ChatWire } from './chat-wire.js';

export interface LocalChat extends Pick<ChatWire, 'problems' | 'cancellation'> {
  /**
   * The bytes that an upstream would answer with status 200: server-sent events for a stream, else JSON. They pass through
   * the same relay. Yields by `pace`. Throws UnsupportedRequest before the first bytes.
   */
  respond(call: ChatCall, pace: Pace): AsyncIterable<Buffer>;
}
