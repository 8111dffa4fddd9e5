// A provider's stream as a client of the Responses wire gets it, without sockets.
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { Response as OpenAiResponse, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { RESPONSES_CLIENT } from '../../../src/chat/clients/responses.js';
import type { PassageOptions } from '../../../src/chat/passages/passage.js';
import { AppError } from '../../../src/domain/errors.js';
import type { ResponsesForm } from '../../../src/domain/chat/chat-request.js';
import { answerEnd, createRelay, IDENTITY } from '../chat/relay.js';
import type { UpstreamStream } from '../chat/upstream-streams.js';

export const RESPONSES_FORM: ResponsesForm = {
  echo: Buffer.from('"tools":[],"store":false'),
  tools: new Map([['patch', { type: 'custom', name: 'patch', namespace: null }]]),
  wantsEncryptedReasoning: true,
  hasCustomTools: true,
  hasOwnSettings: false,
};

/** All events for the client, the last ones included. */
export function relayedResponse(
  stream: Partial<UpstreamStream>,
  pieces: Iterable<Buffer>,
  options: Pick<PassageOptions, 'isTranslated'> = {},
): string {
  const relay = createRelay({ ...stream, client: 'responses' }, { responses: RESPONSES_FORM, ...options });
  const output: Buffer[] = [];
  for (const piece of pieces) {
    relay.push(piece);
    output.push(relay.take() ?? Buffer.alloc(0));
  }
  relay.end();
  output.push(relay.take() ?? Buffer.alloc(0));
  const failed = { identity: IDENTITY, error: new AppError('provider_error'), usage: null, members: {} };
  if (relay.failure === null) output.push(relay.last(answerEnd()));
  else output.push(relay.failed(failed) ?? RESPONSES_CLIENT.failure(failed));
  return Buffer.concat(output).toString();
}

/** Checks names and numbers of events. */
export function parsedEvents(output: string): ResponseStreamEvent[] {
  const blocks = output.split('\n\n').filter((block) => block !== '');
  return blocks.map((block, index) => {
    const [, name, data] = /^event: ([^\n]+)\ndata: ([^\n]+)$/.exec(block) ?? [];
    const event = JSON.parse(data ?? 'null') as ResponseStreamEvent;
    if (event.type !== name || event.sequence_number !== index) throw new Error(`event ${index}: ${block}`);
    return event;
  });
}

/** As OpenAI's SDK has it before the last event, and by the last event. */
export function accumulated(events: readonly ResponseStreamEvent[]): {
  readonly joined: OpenAiResponse;
  readonly last: OpenAiResponse;
} {
  const last = events.at(-1);
  if (last === undefined || !('response' in last)) throw new Error('the stream has no end');
  let joined: OpenAiResponse | undefined;
  for (const event of events.slice(0, -1)) joined = accumulateResponse(event, joined);
  if (joined === undefined) throw new Error('the stream has no beginning');
  return { joined, last: last.response };
}
