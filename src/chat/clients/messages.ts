// Answers in the Messages wire for clients: the events and members that this service writes itself.
import { usdToNumber } from '../../domain/spend/money.js';
import type { ShownCost } from '../dto/chat-usage.dto.js';
import { costDetails } from '../dto/chat-usage.dto.js';
import { messagesErrorBody } from '../../http/errors/error-forms.js';
import { messagesUsageMembers } from './messages-usage.js';
import type { ClientWire, FailedStream } from './client-wire.js';

/** `data`: JSON of one line. */
export function messagesEvent(type: string, data: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(`event: ${type}\ndata: `), Buffer.from(data), Buffer.from('\n\n')]);
}

export const MESSAGE_STOP = messagesEvent('message_stop', '{"type":"message_stop"}');

export const MESSAGES_CLIENT: ClientWire = {
  keepAlive: messagesEvent('ping', '{"type":"ping"}'),
  failure: ({ error, usage, members }: FailedStream) => {
    const shown = usage && { usage: { ...messagesUsageMembers(usage.usage), ...costMembers(usage.cost) } };
    return messagesEvent('error', JSON.stringify({ ...messagesErrorBody(error), ...shown, ...members }));
  },
};

/** The members of `usage` that this service adds. */
export function costMembers(cost: ShownCost): Readonly<Record<string, unknown>> {
  return {
    ...(cost.charged === null ? {} : { cost: usdToNumber(cost.charged) }),
    is_byok: cost.isByok,
    ...costDetails(cost),
  };
}
