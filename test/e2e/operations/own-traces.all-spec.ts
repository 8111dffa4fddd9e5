// The spans that the built service sends of its own work, and the service when no receiver accepts them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ConsumerSupervisor } from '../../../src/deliveries/consumers/consumer-supervisor.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { DELIVERY_ENVIRONMENT, createDestination } from '../../support/deliveries/deliveries.js';
import { canariesIn, canary } from '../../support/app/canaries.js';
import { SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { validateTraceRequest } from '../../support/receivers/otlp-validator.js';
import type { ValidatedSpan } from '../../support/receivers/otlp-validator.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { sendJson, startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLERS_SPAN = 'b7ad6b7169203331';

let app: TestApp;
let upstream: StubUpstream;
let collector: RunningReceiver;
let service: ServiceProcess | null = null;
/** The settings that it was started with. */
let settings = '';
beforeAll(async () => {
  upstream = await startStubUpstream();
  app = await createTestApp();
});
afterEach(() => {
  collector.forget();
  upstream.answerWith(null);
});
afterAll(async () => {
  await end();
  await app.close();
  await upstream.close();
});

async function end(): Promise<void> {
  await service?.kill();
  service = null;
  await collector?.close();
}

/** The service with these settings: that of the test before where it has the same. */
async function start(environment: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  const wanted = JSON.stringify(environment);
  if (service && settings === wanted) return service;
  await end();
  collector = await startReceiver({ check: () => ({ reply: { status: 200, body: {} }, stored: [] }) });
  settings = wanted;
  service = await startServiceProcess({
    ...DELIVERY_ENVIRONMENT,
    DATABASE_URL: app.databaseUrl,
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    PROVIDER_RETRIES: '1',
    PROVIDER_RETRY_BASE_DELAY_MS: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer collector-token',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...environment,
  });
  return service;
}

/** Resolves with the exit code of the service. */
async function stop(): Promise<number | null | undefined> {
  const code = await service?.stop();
  service = null;
  return code;
}

const spans = (): ValidatedSpan[] => collector.requests.flatMap(({ bytes }) => validateTraceRequest(bytes));
/** The last spans of the test before may still come: a test names the traces that are its own. */
const named = (name: string, traces?: readonly string[]): ValidatedSpan[] =>
  spans().filter((span) => span.name === name && (traces?.includes(span.traceId) ?? true));
const until = (name: string, traces?: readonly string[]): Promise<ValidatedSpan[]> =>
  eventually(
    () => Promise.resolve(named(name, traces)),
    (found) => found.length >= (traces?.length ?? 1),
  );

async function call(input: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(`${service?.baseUrl}/embeddings`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.apiKey}`,
      'content-type': 'application/json',
      'user-agent': canary('UserAgent'),
      ...headers,
    },
    body: JSON.stringify({ model: SMALL, input, user: canary('User') }),
  });
  await response.arrayBuffer();
  return response.status;
}

describe('the trace of a request', () => {
  it("continues the caller's trace, and contains the work for the request", async () => {
    await start();
    const traceparent = `00-${TRACE}-${CALLERS_SPAN}-01`;
    expect(await call('hello', { traceparent, 'x-request-id': 'traced' })).toBe(200);
    const [request] = await until('POST /api/v1/embeddings', [TRACE]);
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLERS_SPAN });
    expect(Object.fromEntries(request!.attributes)).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/v1/embeddings',
      'http.response.status_code': 200n,
      'signalbox.request_id': 'traced',
      'signalbox.account_id': app.accountId,
      'signalbox.workspace_id': app.workspaceId,
      'signalbox.key_hash': app.key.hash,
    });
    const [attempt] = named('embeddings', [TRACE]);
    expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: request!.spanId });
    expect(Object.fromEntries(attempt!.attributes)).toMatchObject({
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': SMALL,
      'http.response.status_code': 200n,
    });
    const [append] = named('append to the log', [TRACE]);
    expect(append).toMatchObject({ traceId: TRACE, parentSpanId: request!.spanId });
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer collector-token' },
    });
    expect(collector.requests[0]?.bytes.toString()).toMatch(
      /"key":"service.name","value":\{"stringValue":"signalbox"\}/,
    );
  });

  it('has a span for every attempt, marks failed ones, and contains no text of callers or providers', async () => {
    await start();
    upstream.answerWith((_request, response) =>
      sendJson(response, 500, { error: { message: `cannot embed ${canary('Echo')}` } }),
    );
    expect(await call(canary('Input'))).toBe(502);
    const ownTrace = ({ parentSpanId }: ValidatedSpan): boolean => parentSpanId === '';
    const [request] = await eventually(
      () => Promise.resolve(named('POST /api/v1/embeddings').filter(ownTrace)),
      (found) => found.length > 0,
    );
    expect(request).toMatchObject({ parentSpanId: '', status: { code: 2 } });
    expect(request!.attributes.get('error.type')).toBe('provider_error');
    const attempts = named('embeddings', [request!.traceId]);
    expect(attempts).toHaveLength(2);
    for (const { attributes, status } of attempts) {
      expect(status.code).toBe(2);
      expect(attributes.get('error.type')).toBe('failed');
      expect(attributes.get('http.response.status_code')).toBe(500n);
    }
    const sent = collector.requests.map(({ bytes }) => bytes.toString()).join('\n');
    expect(canariesIn(sent)).toEqual([]);
    for (const secret of [app.apiKey, 'upstream-key', 'hello']) expect(sent).not.toContain(secret);
  });

  it('is separate for parallel requests', async () => {
    await start();
    const traces = Array.from({ length: 20 }, (_, index) => TRACE.slice(0, 30) + (index + 16).toString(16));
    await Promise.all(traces.map((id) => call('hello', { traceparent: `00-${id}-${CALLERS_SPAN}-01` })));
    const requests = await until('POST /api/v1/embeddings', traces);
    const attempts = await until('embeddings', traces);
    expect(requests.map(({ traceId }) => traceId).toSorted()).toEqual(traces);
    for (const { traceId, spanId } of requests) {
      expect(attempts.filter((attempt) => attempt.traceId === traceId)).toMatchObject([
        { parentSpanId: spanId },
      ]);
    }
  });

  it("has the operator's service name, and is sampled although the caller's flag is off", async () => {
    await start({ OTEL_SERVICE_NAME: 'embeddings-eu' });
    const tracestate = 'ot=th:ffffffffffffff;rv:00000000000000';
    await call('hello', { traceparent: `00-${TRACE}-${CALLERS_SPAN}-00`, tracestate, baggage: 'sampled=0' });
    const [request] = await until('POST /api/v1/embeddings');
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLERS_SPAN });
    await until('embeddings');
    expect(collector.requests[0]?.bytes.toString()).toContain('"stringValue":"embeddings-eu"');
    expect(collector.requests.map(({ bytes }) => bytes.toString()).join('\n')).not.toContain('rv:0000');
  });

  it("is not sampled by the caller's flag where the operator's sampler is off", async () => {
    await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
    await call('hello');
    await call('hello', { traceparent: `00-${TRACE}-${CALLERS_SPAN}-01` });
    await stop();
    expect(spans()).toEqual([]);
  });
});

it('starts a separate trace for a delivery', async () => {
  const platform = await startReceiver(traceCollector);
  // This process shares the database with the service, and must not take the delivery from it.
  await app.application.get(ConsumerSupervisor).beforeApplicationShutdown();
  try {
    const destination = await createDestination(app, { url: platform.origin });
    await start({ DELIVERY_PROCESS: 'own' });
    await call('hello', { traceparent: `00-${TRACE}-${CALLERS_SPAN}-01` });
    const [delivery] = await until('deliver');
    expect(delivery!.parentSpanId).toBe('');
    expect(delivery!.traceId).not.toBe(TRACE);
    expect(Object.fromEntries(delivery!.attributes)).toMatchObject({
      'signalbox.destination_id': destination.id,
      'signalbox.destination_kind': 'webhook',
      'signalbox.delivered': 1n,
    });
    await app.sql('DELETE FROM destinations');
  } finally {
    await platform.close();
  }
});

it('sends pending spans before the process ends', async () => {
  await start({ OTEL_BSP_SCHEDULE_DELAY: '3600000' });
  expect(await call('hello')).toBe(200);
  expect(collector.requests).toEqual([]);
  expect(await stop()).toBe(0);
  expect(named('POST /api/v1/embeddings')).toHaveLength(1);
});

describe('a collector that is not there', () => {
  it.each(['hang', 'reset'] as const)('changes nothing for callers: %s', async (script) => {
    const { lines } = await start({
      LOG_LEVEL: 'warn',
      OTEL_BSP_EXPORT_TIMEOUT: '1000',
      SHUTDOWN_GRACE_MS: '1000',
    });
    collector.always(script);
    const statuses = await Promise.all(Array.from({ length: 50 }, () => call('hello')));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually(
      () => Promise.resolve(collector.requests.length),
      (count) => count > 0,
    );
    const stoppedAt = performance.now();
    expect(await stop()).toBe(0);
    // The last spans have a few seconds to leave in; the end of all other parts has up to 15.
    expect(performance.now() - stoppedAt).toBeLessThan(60_000);
    expect(canariesIn(lines.join('\n'))).toEqual([]);
  });
});

it('sends nothing without an endpoint', async () => {
  await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  expect(await call('hello', { traceparent: `00-${TRACE}-${CALLERS_SPAN}-01` })).toBe(200);
  expect(await stop()).toBe(0);
  expect(collector.requests).toEqual([]);
});
