// Usage of answers that come and go in one wire, whatever the provider puts in its place.
import { describe, expect, it } from '@jest/globals';
import { ANSWER_OPTIONS, answerEnd, createRelay } from '../../../test/support/chat/relay.js';
import { messagesEvent, messageStart } from '../../../test/support/messages/messages-stub.js';
import { responseObject } from '../../../test/support/responses/responses-events.js';
import type { ModelWire } from '../../domain/chat/model-wire.js';
import { wholePassage } from './passages.js';

const NOTHING = [
  ['null', null],
  ['absent', undefined],
  ['a list', [1, 2]],
  ['an empty object', {}],
] as const;
const COST = { cost: 0, is_byok: false };

function bodyOf(client: ModelWire, answer: object): unknown {
  const bytes = Buffer.from(JSON.stringify(answer));
  const passage = wholePassage({
    ...ANSWER_OPTIONS,
    client,
    wire: { ...ANSWER_OPTIONS.wire, protocol: client },
  });
  passage.read(bytes, 0, bytes.length, null);
  return JSON.parse(Buffer.concat(passage.body(answerEnd())).toString());
}

describe.each(NOTHING)('usage of a provider that is %s', (_form, usage) => {
  it('becomes the cost in a whole message', () => {
    const content = [{ type: 'text', text: 'Hello' }];
    const message = { id: 'msg_1', type: 'message', content, stop_reason: 'end_turn', usage };
    expect(bodyOf('messages', message)).toMatchObject({ content, usage: COST });
  });

  it('becomes the cost in a whole response', () => {
    expect(bodyOf('responses', responseObject('completed', [], { usage }))).toMatchObject({ usage: COST });
  });

  it('becomes the cost in the last event of a streamed message', () => {
    const relay = createRelay({ protocol: 'messages', client: 'messages' });
    const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
    relay.push(Buffer.from(`${messagesEvent(messageStart())}${messagesEvent(delta)}`));
    relay.push(Buffer.from(messagesEvent({ type: 'message_stop' })));
    const [, data = ''] = /^data: (.*)$/m.exec(relay.last(answerEnd()).toString()) ?? [];
    expect(JSON.parse(data)).toMatchObject({ delta: delta.delta, usage: COST });
  });
});
