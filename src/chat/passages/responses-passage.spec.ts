// Streams of the Responses wire for clients of the same wire: the bytes of every event, but for those that gain members.
import { describe, expect, it } from '@jest/globals';
import { createRelay, answerEnd, IDENTITY, relayed } from '../../../test/support/chat/relay.js';
import {
  answerEvents,
  eventText,
  RESPONSE_USAGE,
  RICH_OUTPUT,
} from '../../../test/support/responses/responses-events.js';
import type { WireEvent } from '../../../test/support/responses/responses-events.js';
import { accumulated, parsedEvents } from '../../../test/support/responses/relayed-response.js';
import { RESPONSES_STREAMS, responsesStream } from '../../../test/support/responses/responses-streams.js';
import { AppError } from '../../domain/errors.js';

const OWN = { protocol: 'responses', client: 'responses' } as const;
const relayedEvents = (events: readonly WireEvent[]) =>
  relayed(OWN, [Buffer.from(events.map(eventText).join(''))]);

describe('a stream of the same wire', () => {
  it('passes byte for byte up to its last event, whose usage gains the cost', () => {
    const events = answerEvents(RICH_OUTPUT);
    const { output, last, upstreamId, choices } = relayedEvents(events);
    expect(output).toBe(events.slice(0, -1).map(eventText).join(''));
    const cost = '"cost":0,"is_byok":false';
    const [before, after] = eventText(events.at(-1)!).split(/(?<="total_tokens":88000)/) as [string, string];
    expect(last.startsWith(`${before},${cost}`)).toBe(true);
    expect(last.endsWith(after)).toBe(true);
    expect(upstreamId).toBe('resp_0Stub');
    expect(choices).toMatchObject([
      {
        content: 'Hello é',
        reasoning: 'Let me see.\n\nBoth.',
        toolCalls: [{ arguments: '{"id": 12345678901234567890}' }, { id: 'call_2', arguments: '{}' }],
        finishReason: 'tool_calls',
        nativeFinishReason: 'completed',
      },
    ]);
  });

  it.each([
    ['null', { usage: null }],
    ['absent', { usage: undefined }],
    ['empty', { usage: {} }],
  ])('has the cost where the usage of the provider is %s', (_form, more) => {
    const events = answerEvents(RICH_OUTPUT, more);
    const { last } = relayedEvents(events);
    const { response } = JSON.parse(last.split('data: ')[1] ?? '') as { response: { usage: object } };
    expect(response.usage).toMatchObject({ cost: 0, is_byok: false });
  });

  it('has the routing of the call beside its usage', () => {
    const relay = createRelay(OWN);
    relay.push(Buffer.from(answerEvents(RICH_OUTPUT).map(eventText).join('')));
    const last = relay.last(answerEnd({ openrouter_metadata: { attempt: 1 } })).toString();
    const { response } = JSON.parse(last.split('data: ')[1] ?? '') as { response: object };
    expect(response).toMatchObject({
      openrouter_metadata: { attempt: 1 },
      usage: { ...RESPONSE_USAGE, cost: 0 },
    });
  });

  it('gives a message the content that its beginning lacks', () => {
    const { output } = relayed(OWN, [responsesStream('a message whose beginning has no content').body]);
    const added = output.split('\n\n').find((event) => event.startsWith('event: response.output_item.added'));
    expect(added).toMatch(/"role":"assistant","content":\[\]\}/);
  });

  it('records the input of a custom tool as the arguments of its function', () => {
    const { choices } = relayed(OWN, [responsesStream('a call of a custom tool').body]);
    expect(choices[0]?.toolCalls.map(({ arguments: text }) => JSON.parse(text) as unknown)).toEqual([
      { input: '*** "Begin"\n\\ é' },
      { input: '' },
    ]);
  });

  it.each([
    'a failure after the first content',
    'an error after the first content',
    'an end before the last event',
  ])('ends with a failure of the next number and the id of the provider: %s', (name) => {
    const relay = createRelay(OWN);
    relay.push(responsesStream(name).body);
    relay.end();
    expect(relay.failure).not.toBeNull();
    const failed = { identity: IDENTITY, error: new AppError('provider_error'), usage: null, members: {} };
    const output = (relay.take()?.toString() ?? '') + (relay.failed(failed)?.toString() ?? '');
    const { last } = accumulated(parsedEvents(output));
    expect(last).toMatchObject({
      id: 'resp_0Stub',
      status: 'failed',
      error: { code: 'server_error' },
      output: name.startsWith('an end') ? [{ content: [{ text: 'Hello' }] }] : [],
    });
  });
});

describe.each(RESPONSES_STREAMS)('$name', (stream) => {
  it('has as its output the events of the provider', () => {
    const { output, failure } = relayed(stream, [stream.body]);
    if (failure !== null) return;
    const sent = stream.body
      .toString()
      .replaceAll('\r\n', '\n')
      .replaceAll(',\ndata: ', ', ')
      .split('\n\n')
      .flatMap((event) => /(?:^|\n)data: (?<data>\{.*\})$/s.exec(event)?.groups?.['data'] ?? []);
    const passed = output.split('\n\n').flatMap((event) => /data: (.*)$/s.exec(event)?.[1] ?? []);
    const isSame = (one: string, other: string) =>
      one === other || one === other.replace(/\}\}$/, ',"content":[]}}');
    expect(passed.length).toBe(sent.length - 1);
    for (const [index, data] of passed.entries())
      expect([data, isSame(data, sent[index] ?? '')]).toEqual([data, true]);
  });
});
