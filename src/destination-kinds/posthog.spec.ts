import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';
import { posthog } from './posthog.js';

interface Event {
  readonly distinct_id: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

async function eventOf(overrides: Partial<GenerationTrace>): Promise<Event> {
  const config = Object.assign(new posthog.configClass(), { apiKey: 'phc_key' });
  const context = { destinationId: 'd', now: new Date(0) };
  const [request] = await posthog.delivery.encode(config, [generationTrace(1, overrides)], context);
  const { batch } = JSON.parse(String(request?.body)) as { batch: readonly [Event] };
  return batch[0];
}

describe('the owner of an event', () => {
  it('is the user', async () => {
    const { distinct_id: id, properties } = await eventOf({ userId: 'customer-7' });
    expect(id).toBe('customer-7');
    expect(properties).not.toHaveProperty('$process_person_profile');
  });

  it.each([null, '', '  '])('is the trace when the user is %j, and no person is created', async (userId) => {
    const { distinct_id: id, properties } = await eventOf({ userId });
    expect(id).toBe(generationTrace(1).traceId);
    expect(properties['$process_person_profile']).toBe(false);
  });
});

describe('the keys of the caller', () => {
  it('have a prefix, and are cut below three levels', async () => {
    const metadata = {
      flat: 1,
      object: { two: { three: { four: { five: 5 } } } },
      list: [[[['four']]]],
      empty: { two: { three: {} } },
    };
    const { properties } = await eventOf({ metadata });
    expect(properties).toMatchObject({
      metadata_flat: 1,
      metadata_object: { two: { three: { four: '[truncated]' } } },
      metadata_list: [[['[truncated]']]],
      metadata_empty: { two: { three: {} } },
    });
  });

  it('cannot replace a property of the platform', async () => {
    const { properties } = await eventOf({ metadata: { $ai_model: 'forged', generation_id: 'forged' } });
    expect(properties).toMatchObject({
      metadata_$ai_model: 'forged',
      metadata_generation_id: 'forged',
      $ai_model: generationTrace().model,
    });
    expect(properties['generation_id']).not.toBe('forged');
  });
});

describe('the inputs', () => {
  it('are one text when there is one, else a list of texts', async () => {
    const inputOf = async (items: readonly (string | number[])[]): Promise<unknown> =>
      (await eventOf({ input: { items, isTruncated: false } })).properties['$ai_input'];
    expect(await inputOf(['one'])).toBe('one');
    expect(await inputOf(['one', 'two'])).toEqual(['one', 'two']);
    expect(await inputOf([[1, 2]])).toBe('[1,2]');
  });

  it('are omitted, and marked so, when an event would be too large to be stored', async () => {
    const items = ['\u0001'.repeat(256 * 1024)];
    const { properties } = await eventOf({ input: { items, isTruncated: false } });
    expect(properties).toMatchObject({ $ai_input: [], input_truncated: true });
  });
});
