// Weave lists a call in a thread only as the start of a turn.
import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import { CONTEXT } from '../../test/support/deliveries/otlp-requests.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';
import { requireDestinationKind } from './index.js';
import { parseConfig } from './shared/destination-kind.js';

const WEAVE = requireDestinationKind('weave');
const PARENT = '00f067aa0ba902b7';

async function callOf(
  parentSpans: 'link' | 'root',
  overrides: Partial<GenerationTrace>,
): Promise<Record<string, unknown>> {
  const config = parseConfig(WEAVE, { ...WEAVE.example, parentSpans });
  const trace = generationTrace(1, { parentSpanId: PARENT, ...overrides });
  const [request] = await WEAVE.delivery.encode(config, [trace], CONTEXT);
  return (JSON.parse(String(request!.body)) as { batch: [Record<string, unknown>] }).batch[0];
}

describe.each(['link', 'root'] as const)('a call with parentSpans %s', (parentSpans) => {
  it('is a turn of the thread of its session', async () => {
    const call = await callOf(parentSpans, { sessionId: 'session-9' });
    expect(call).toMatchObject({ thread_id: 'session-9', turn_id: call['id'] });
    expect(call['parent_id']).toBe(parentSpans === 'link' ? PARENT : undefined);
  });

  it('belongs to no thread without a session', async () => {
    const call = await callOf(parentSpans, { sessionId: null });
    expect(call).not.toHaveProperty('thread_id');
    expect(call).not.toHaveProperty('turn_id');
  });
});
