// A stream of OpenRouter that passes through this service stays a stream of OpenRouter: the same events in the same order,
// with the same members but the repeated role, which some clients join (docs/contract.md#chat-streams).
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { streamChat } from '../../support/upstreams/chat-upstream.js';
import { modelAt } from '../../support/chat-providers/every-chat-provider.js';
import { startAppWithEveryChatProvider } from '../../support/chat-providers/every-chat-provider-app.js';
import type { EveryChatProviderApp } from '../../support/chat-providers/every-chat-provider-app.js';
import { OPENROUTER_EVENTS, OPENROUTER_STREAM } from '../../support/chat-providers/openrouter-stream.js';
import { recorded } from '../../support/chat-providers/stream-script.js';

const MODEL = modelAt('openai-compatible');

let setup: EveryChatProviderApp;
beforeAll(async () => {
  setup = await startAppWithEveryChatProvider();
});
afterAll(() => setup.close());

interface Event {
  readonly choices: readonly Readonly<Record<string, unknown>>[];
  readonly usage?: object;
}

/** Without the members that name the call, and without members of choices that are null. */
function comparable(event: object | string): unknown {
  if (typeof event === 'string') return event;
  const { choices, usage, ...members } = event as Event;
  return {
    members: Object.keys(members).toSorted(),
    choices: choices.map((choice) =>
      Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== null)),
    ),
    ...(usage && { usage: Object.keys(usage).filter((name) => name.endsWith('_tokens')) }),
  };
}

function withoutRole(event: object | string): object | string {
  if (typeof event === 'string') return event;
  const choices = (event as Event).choices.map(({ delta, ...choice }) => {
    const { role: _role, ...others } = delta as Readonly<Record<string, unknown>>;
    return Object.assign(choice, { delta: others });
  });
  return { ...event, choices };
}

it.each([
  ['in one read', []],
  ['cut in comments, names and texts', [7, 60, 333, 500, 901, 1_400]],
])('%s', async (_title, cuts) => {
  setup.providers.stubOf('openai-compatible').streamWith(recorded(OPENROUTER_STREAM, ...cuts));
  const read = await streamChat(setup.app, { model: MODEL });
  const [first, ...others] = OPENROUTER_EVENTS;
  const expected = [first ?? '', ...others.map(withoutRole)];
  expect(read.events.map(comparable)).toEqual(expected.map(comparable));
  for (const event of read.events)
    if (event !== '[DONE]')
      expect(event).toMatchObject({ id: read.headers.get('x-generation-id'), model: MODEL });
  expect(read.events.at(-2)).toMatchObject({
    usage: { prompt_tokens: 7_007, completion_tokens: 49, total_tokens: 7_056 },
  });
});
