// GET /metrics: requests, providers, database, and the required token.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { canariesIn, canary } from '../../support/app/canaries.js';
import { embed, SMALL, startWithUpstream } from '../../support/requests/create-embedding.js';
import type { Setup } from '../../support/requests/create-embedding.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

/** The value of one line of the text format; 0 without one. */
function read(text: string, line: string): number {
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

describe('the metrics of one process', () => {
  let setup: Setup;
  let app: TestApp;
  beforeAll(async () => {
    setup = await startWithUpstream({ PROVIDER_RETRIES: '0' });
    ({ app } = setup);
  });
  afterAll(() => setup.close());

  const show = async (): Promise<string> => (await app.http.get('/metrics')).text;
  const until = (line: string, value: number): Promise<string> =>
    eventually(show, (text) => read(text, line) === value);

  it('count requests by method, route and status, with their duration', async () => {
    await embed(app, { model: SMALL, input: 'hello' });
    await app.http.get(`/api/v1/keys/${canary('Hash')}?x=${canary('Query')}`);
    await app.http.get(`/${canary('Path')}`);
    const text = await until(
      'signalbox_http_requests_total{method="POST",route="/api/v1/embeddings",status="200"}',
      1,
    );
    expect(
      read(text, 'signalbox_http_requests_total{method="GET",route="/api/v1/keys/:hash",status="401"}'),
    ).toBe(1);
    expect(read(text, 'signalbox_http_requests_total{method="GET",route="none",status="404"}')).toBe(1);
    const duration =
      'signalbox_http_request_duration_seconds_count{method="POST",route="/api/v1/embeddings"}';
    expect(read(text, duration)).toBe(1);
    expect(canariesIn(text)).toEqual([]);
  });

  it('count errors by code, spend rejections included', async () => {
    const { secret } = await app.createKey({ limit: parseUsd('0') });
    expectError(await embed(app, { model: SMALL, input: 'hello' }, secret), 402);
    const text = await until('signalbox_http_errors_total{code="key_limit_exceeded"}', 1);
    expect(read(text, 'signalbox_http_errors_total{code="not_found"}')).toBe(1);
  });

  it('count provider calls by outcome', async () => {
    const count = 'signalbox_upstream_attempt_duration_seconds_count';
    expect(read(await show(), `${count}{provider="openai",outcome="ok"}`)).toBe(1);
    setup.upstream.answerWith((_request, response) => sendJson(response, 500, {}));
    await embed(app, { model: SMALL, input: 'hello' });
    setup.upstream.answerWith(null);
    expect(read(await show(), `${count}{provider="openai",outcome="failed"}`)).toBe(1);
  });

  it('describe the batches of the log and the connections of the database', async () => {
    // A task of the background may wait for a connection.
    const idle = 'signalbox_database_connections{state="idle"}';
    const text = await eventually(
      show,
      (shown) => shown.includes('\nsignalbox_database_waiting 0\n') && read(shown, idle) > 0,
    );
    expect(read(text, 'signalbox_log_batch_generations_sum')).toBe(2);
    expect(read(text, 'signalbox_log_batch_duration_seconds_count')).toBe(2);
  });

  it('are shown with any credential where no token is set', async () => {
    const { status } = await app.http.get('/metrics').set('authorization', 'Bearer none');
    expect(status).toBe(200);
  });

  it('count cache hits', async () => {
    const ask = () => embed(app, { model: SMALL, input: ['one', 'two'] }).set('x-embedding-cache', 'on');
    await ask();
    await ask();
    const text = await show();
    expect(read(text, 'signalbox_embedding_cache_inputs_total{outcome="hit"}')).toBe(2);
    expect(read(text, 'signalbox_embedding_cache_inputs_total{outcome="miss"}')).toBe(2);
  });
});

describe('access to metrics', () => {
  const TOKEN = 'scrape-token-0123456789';
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({ environment: { METRICS_BEARER_TOKEN: TOKEN } });
  });
  afterAll(() => app.close());

  it('is granted with the token', async () => {
    const { status, text } = await app.http.get('/metrics').set('authorization', `Bearer ${TOKEN}`);
    expect(status).toBe(200);
    expect(text).toContain('signalbox_http_requests_total');
  });

  it.each([
    ['nothing', undefined],
    ['another token', 'Bearer scrape-token-0123456780'],
    ['a part of it', 'Bearer scrape-token'],
    ['another scheme', `Basic ${TOKEN}`],
  ])('is denied with %s', async (_name, authorization) => {
    const ask = app.http.get('/metrics');
    expectError(await (authorization === undefined ? ask : ask.set({ authorization })), 401);
  });

  it('is denied with a management key', async () => {
    expectError(await app.http.get('/metrics').set('authorization', `Bearer ${app.managementKey}`), 401);
  });

  it('needs no token for the probes', async () => {
    expect((await app.http.get('/ready')).status).toBe(200);
  });
});
