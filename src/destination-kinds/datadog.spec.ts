import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { generationTrace } from '../../test/support/deliveries/generation-trace.js';
import type { GenerationTrace } from '../domain/generations/generation-trace.js';
import { datadog } from './datadog.js';

const CONTEXT = { destinationId: 'd', now: new Date(0) };

async function bodyOf(trace: GenerationTrace, mlApp = 'app'): Promise<string> {
  const config = Object.assign(new datadog.configClass(), { apiKey: 'key', mlApp });
  const [request] = await datadog.delivery.encode(config, [trace], CONTEXT);
  return String(request?.body);
}

describe('the start of a span', () => {
  it('is exact in the text, though a double cannot hold the number', async () => {
    const moment = fc.date({ min: new Date('2001-09-10'), max: new Date('2200-01-01'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(moment, async (startedAt) => {
        expect(await bodyOf(generationTrace(1, { startedAt }))).toContain(
          `"start_ns":${BigInt(startedAt.getTime()) * 1_000_000n},`,
        );
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the name of the application', () => {
  it.each([
    ['My App', 'my_app'],
    ['shop/eu-1:v2.0', 'shop/eu-1:v2.0'],
    ['a __ b!!', 'a_b'],
    ['Größe', 'größe'],
    ['!!!', 'unnamed'],
    ['x'.repeat(200), 'x'.repeat(193)],
    [`${'x'.repeat(192)} y`, 'x'.repeat(192)],
  ])('%s becomes %s', async (mlApp, expected) => {
    const { data } = JSON.parse(await bodyOf(generationTrace(), mlApp)) as {
      data: { attributes: object };
    };
    expect(data.attributes).toMatchObject({ ml_app: expected, tags: [`service:${expected}`] });
  });
});

describe('the metadata', () => {
  it('keeps the caller’s keys that do not collide with facts of the service', async () => {
    const metadata = { user_id: 'customer-7', model_provider: 'mine', error_type: 'forged' };
    const body = await bodyOf(generationTrace(1, { userId: null, provider: null, metadata }));
    const { data } = JSON.parse(body) as {
      data: { attributes: { spans: [{ meta: { metadata: object } }] } };
    };
    const sent = data.attributes.spans[0].meta.metadata;
    expect(sent).toMatchObject({ user_id: 'customer-7', model_provider: 'mine' });
    expect(sent).not.toHaveProperty('error_type');
  });
});

describe('a span above its limit', () => {
  it('is sent without its inputs', async () => {
    const items = ['\u0001'.repeat(256 * 1024)];
    const body = await bodyOf(generationTrace(1, { input: { items, isTruncated: false } }));
    expect(body.length).toBeLessThan(10_000);
    expect(body).toContain('"input_truncated":true');
  });
});

describe('an answer', () => {
  it.each([
    [202, 'delivered'],
    [200, 'blocked'],
    [204, 'blocked'],
  ])('of %d means %s', async (status, outcome) => {
    const config = Object.assign(new datadog.configClass(), { apiKey: 'key', mlApp: 'app' });
    const [request] = await datadog.delivery.encode(config, [generationTrace()], CONTEXT);
    const response = { status, headers: {}, body: Buffer.from('<html>Welcome</html>') };
    expect(await datadog.delivery.read(response, request!, config, CONTEXT)).toMatchObject({ outcome });
  });
});
