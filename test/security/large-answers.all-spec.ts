// Answers that are small on the wire and large when unpacked, or endless: neither a provider nor a platform can fill
// the memory of this service.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { askFor } from '../support/requests/admin.js';
import { embed, SMALL, startWithUpstream } from '../support/requests/create-embedding.js';
import type { Setup } from '../support/requests/create-embedding.js';
import { WEBHOOK } from '../support/requests/create-destination.js';
import { expectError } from '../support/requests/error-shape.js';
import { peakMemoryOf } from '../support/memory.js';
import { patternVector } from '../support/upstreams/stub-upstream.js';
import type { StubHandler } from '../support/upstreams/stub-upstream.js';

const MEBIBYTE = 2 ** 20;
const bomb = gzipSync(Buffer.alloc(256 * MEBIBYTE, ' '));

let setup: Setup;
beforeAll(async () => {
  setup = await startWithUpstream({ PROVIDER_RETRIES: '0' });
});
afterAll(() => setup.close());

const endless: StubHandler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(MEBIBYTE, '[');
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  write();
};
const compressed =
  (bytes: Buffer): StubHandler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(bytes);
  };

describe('a provider', () => {
  it.each([
    ['that answers with a bomb', compressed(bomb)],
    ['that does not stop', endless],
  ])('with %s is rejected', async (_name, handler) => {
    setup.upstream.answerWith(handler);
    const peak = await peakMemoryOf(async () =>
      expectError(await embed(setup.app, { model: SMALL, input: 'x' }), 502),
    );
    expect(peak).toBeLessThan(200 * MEBIBYTE);
    setup.upstream.answerWith(null);
  });
});

it('a provider that answers in a compressed form is read', async () => {
  const data = [{ index: 0, embedding: patternVector(0, 1536) }];
  setup.upstream.answerWith(compressed(gzipSync(JSON.stringify({ data, usage: {} }))));
  expect((await embed(setup.app, { model: SMALL, input: 'x' })).status).toBe(200);
  setup.upstream.answerWith(null);
});

describe('a platform', () => {
  it.each([
    ['that answers with a bomb', compressed(bomb)],
    ['that does not stop', endless],
  ])('with %s takes little memory, and is quoted briefly', async (_name, handler) => {
    setup.upstream.answerWith(handler);
    const body = { ...WEBHOOK, config: { url: `${setup.upstream.origin}/hook` } };
    const { data } = await askFor<{ data: { id: string } }>(
      201,
      setup.app,
      'post',
      '/observability/destinations',
      { body },
    );
    const peak = await peakMemoryOf(async () => {
      const path = `/observability/destinations/${data.id}/test`;
      const result = await askFor<object>(200, setup.app, 'post', path);
      expect(JSON.stringify(result).length).toBeLessThan(1_000);
    });
    expect(peak).toBeLessThan(200 * MEBIBYTE);
    setup.upstream.answerWith(null);
  });
});
