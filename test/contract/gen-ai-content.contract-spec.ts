// The content of chats at the kinds that send it in the form of OpenTelemetry's GenAI conventions, and the check itself.
import { describe, expect, it } from '@jest/globals';
import { CHAT_CASES } from '../support/deliveries/chat-traces.js';
import { generationTrace } from '../support/deliveries/generation-trace.js';
import { deliveringTo, encode } from '../support/receivers/deliver.js';
import { contentProblem } from '../support/receivers/gen-ai-content.js';
import { DESTINATION_RECEIVERS } from '../support/receivers/index.js';
import { validateTraceRequest } from '../support/receivers/otlp-validator.js';
import type { Attributes } from '../support/receivers/otlp-validator.js';

const KINDS = ['grafana', 'newrelic', 'otel-collector', 'ramp', 'sentry', 'webhook'];
const TOOLS = 'gen_ai.tool.definitions';
const INPUT = 'gen_ai.input.messages';
const OUTPUT = 'gen_ai.output.messages';

async function attributesOf(type: string): Promise<readonly Attributes[]> {
  const receiver = DESTINATION_RECEIVERS.find((candidate) => candidate.type === type)!;
  const traces = Object.values(CHAT_CASES).map((overrides, index) => generationTrace(index + 1, overrides));
  const requests = await encode(deliveringTo(receiver), traces);
  return requests.flatMap(({ body }) =>
    validateTraceRequest(Buffer.from(body!)).map((span) => span.attributes),
  );
}

describe.each(KINDS)('%s', (type) => {
  it('gets the published form of every chat', async () => {
    const spans = await attributesOf(type);
    expect(spans).toHaveLength(Object.keys(CHAT_CASES).length);
    expect(spans.map(contentProblem)).toEqual(spans.map(() => null));
    for (const name of [TOOLS, INPUT, OUTPUT])
      expect(spans.some((attributes) => attributes.has(name))).toBe(true);
  });
});

describe('the check', () => {
  it.each([
    [TOOLS, [{ type: 'function', function: { name: 'now' } }]],
    [TOOLS, [{ name: 'now' }]],
    [TOOLS, []],
    [INPUT, [{ role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', result: 'one' }] }]],
    [INPUT, [{ role: 'user', content: 'Hi' }]],
    [INPUT, [{ role: 'user', parts: [{ type: 'image_url' }] }]],
    [OUTPUT, [{ role: 'assistant', parts: [] }]],
    ['gen_ai.system_instructions', [{ type: 'text', text: 'Be brief.' }]],
  ])('rejects %s of %j', (name, value) => {
    expect(contentProblem(new Map([[name, JSON.stringify(value)]]))).toMatch(name);
  });
});
