// Destinations that fail in every way: no trace is lost, no other destination waits, and operators see the reason.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigCipher } from '../../../src/persistence/encryption/config-cipher.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  readDeadLetters,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { contentOfText } from '../../support/generations/generation.js';
import type { CursorRow } from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type {
  ReceivedDelivery,
  RunningReceiver,
  Script,
  ReceiverResult,
} from '../../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receivers: RunningReceiver[] = [];
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterEach(async () => {
  await deleteAllDestinations(app);
  for (const receiver of receivers.splice(0)) await receiver.close();
});
afterAll(() => app.close());

async function receiverOf(
  check: (request: ReceivedDelivery) => ReceiverResult | Promise<ReceiverResult>,
): Promise<RunningReceiver> {
  const receiver = await startReceiver({ check });
  receivers.push(receiver);
  return receiver;
}

const untilCursor = (id: string, isReached: (row: CursorRow) => boolean): Promise<CursorRow> =>
  eventually(() => readCursor(app, id), isReached);

/** Rejects every request that holds one of these generations. */
const rejecting =
  (poison: readonly string[], status: number) =>
  (request: ReceivedDelivery): ReceiverResult => {
    const ids = generationsIn(request);
    return ids.some((id) => poison.includes(id))
      ? { reply: { status, body: 'bad span' }, stored: [] }
      : { reply: { status: 200 }, stored: ids };
  };

describe('a temporary failure', () => {
  it.each<[string, readonly Script[]]>([
    ['503', [{ status: 503 }, { status: 503 }]],
    ['429 with Retry-After', [{ status: 429, headers: { 'retry-after': '0' } }]],
    ['500', [{ status: 500, body: 'oops' }]],
    ['a reset', ['reset', 'reset']],
    ['a truncated answer', ['truncate']],
    ['a failure that says more than is read', [{ status: 503, body: 'x'.repeat(1_048_577) }]],
  ])('of kind %s delays all traces, which are delivered in order, once', async (_name, scripts) => {
    const receiver = await receiverOf(traceCollector.check);
    receiver.script(...scripts);
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await recordGenerations(app, 30);
    await untilDelivered(app, id, 30);
    expect(receiver.stored).toHaveLength(30);
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
    expect(await readCursor(app, id)).toMatchObject({ failures: 0, dropped: {}, last_error_class: 'retry' });
  });

  it('makes the consumer send one trace at a time', async () => {
    const receiver = await receiverOf(traceCollector.check);
    receiver.always({ status: 503 });
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 50);
    await untilCursor(id, ({ failures }) => failures >= 6);
    const last = receiver.requests.at(-1);
    expect(last && generationsIn(last)).toHaveLength(1);
    receiver.always(null);
    await untilDelivered(app, id, 50);
    expect(receiver.stored).toHaveLength(50);
  });
});

describe('a success with a longer body than is read', () => {
  it('is a success: no trace is sent twice', async () => {
    const receiver = await receiverOf(() => ({ reply: { status: 200 }, stored: [] }));
    receiver.always({ status: 200, body: `{"partialSuccess":{"errorMessage":"${'x'.repeat(1_500_000)}` });
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 4);
    const row = await untilDelivered(app, id, 4);
    expect(row).toMatchObject({ delivered: '4', dropped: {}, failures: 0, last_error_class: null });
    expect(receiver.requests.flatMap(generationsIn)).toHaveLength(4);
  });
});

describe('a destination that hangs', () => {
  it('delays no other destination of its workspace', async () => {
    const dead = await receiverOf(traceCollector.check);
    dead.always('hang');
    const healthy = await receiverOf(traceCollector.check);
    const { id: deadId } = await createDestination(app, { url: dead.origin });
    const { id } = await createDestination(app, { url: healthy.origin });
    for (let round = 1; round <= 5; round++) {
      await recordGenerations(app, 10);
      await untilDelivered(app, id, round * 10);
    }
    expect(await readCursor(app, deadId)).toMatchObject({ delivered: '0', dropped: {} });
  });
});

describe('a destination that rejects its credentials', () => {
  const HEADERS = { Authorization: 'Bearer very-secret-token' };
  let patient: TestApp;
  beforeAll(async () => {
    patient = await createDeliveryApp({ environment: { BROADCAST_RETRY_MAX_DELAY_MS: '3600000' } });
  });
  afterEach(() => deleteAllDestinations(patient));
  afterAll(() => patient.close());

  const untilPaused = (id: string): Promise<CursorRow> =>
    eventually(
      () => readCursor(patient, id),
      (row) => row.paused_at !== null && row.lease_owner === null,
    );

  it('is paused with the reason, loses no trace, and continues when its config changes', async () => {
    const receiver = await receiverOf(traceCollector.check);
    receiver.always({ status: 401, body: '{"error":"who are you, Bearer very-secret-token?"}' });
    const config = { url: receiver.origin, headers: HEADERS };
    const { id } = await createDestination(patient, config);
    const ids = await recordGenerations(patient, 5);
    const paused = await untilPaused(id);
    expect(paused).toMatchObject({ last_error_class: 'blocked', last_error_status: 401, delivered: '0' });
    expect(paused.last_error_message).toBe('HTTP 401: {"error":"who are you, ****?"}');
    receiver.always(null);
    const { ciphertext } = patient.application.get(ConfigCipher).encrypt(config, id);
    await patient.sql('UPDATE destinations SET config_ciphertext = $2, version = version + 1 WHERE id = $1', [
      id,
      ciphertext,
    ]);
    const resumed = await untilDelivered(patient, id, 5);
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
    expect(resumed.paused_at).toBeNull();
  });

  it('receives few requests while it is paused', async () => {
    const receiver = await receiverOf(traceCollector.check);
    receiver.always({ status: 403 });
    const { id } = await createDestination(patient, { url: receiver.origin });
    await recordGenerations(patient, 1);
    await untilPaused(id);
    const other = await receiverOf(traceCollector.check);
    const { id: otherId } = await createDestination(patient, { url: other.origin });
    for (let round = 1; round <= 3; round++) {
      await recordGenerations(patient, 5);
      await untilDelivered(patient, otherId, 5 * round);
    }
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('a redirect', () => {
  it('is not followed', async () => {
    const target = await receiverOf(traceCollector.check);
    const receiver = await receiverOf(traceCollector.check);
    receiver.always({ status: 307, headers: { location: target.origin } });
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 1);
    const row = await untilCursor(id, ({ paused_at }) => paused_at !== null);
    expect(row).toMatchObject({ last_error_class: 'blocked', last_error_status: 307 });
    expect(target.requests).toHaveLength(0);
  });
});

describe('an address that must not be reached', () => {
  it('pauses the destination with a reason', async () => {
    const { id } = await createDestination(app, { url: 'https://10.1.2.3/traces' });
    await recordGenerations(app, 1);
    const row = await untilCursor(id, ({ paused_at }) => paused_at !== null);
    expect(row.last_error_class).toBe('blocked');
    expect(row.last_error_message).toContain('10.1.2.3');
  });
});

describe('a generation that the platform rejects', () => {
  it.each([400, 422])('with %s becomes a dead letter, and all others are delivered', async (status) => {
    const poison: string[] = [];
    const receiver = await receiverOf((request) => rejecting(poison, status)(request));
    const { id } = await createDestination(app, { url: receiver.origin });
    receiver.always({ status: 503 });
    const ids = await recordGenerations(app, 40);
    poison.push(ids[7]!, ids[31]!);
    receiver.always(null);
    const row = await untilDelivered(app, id, 38);
    expect(row.dropped).toEqual({ refused: 2 });
    expect(receiver.stored).toHaveLength(38);
    const letters = await readDeadLetters(app, id);
    expect(letters.map((letter) => letter.generation_id).toSorted()).toEqual(poison.toSorted());
    expect(letters[0]).toMatchObject({ reason: 'refused', message: `HTTP ${status}: bad span` });
  });

  it('is delivered by a replay once the platform accepts it', async () => {
    const poison: string[] = [];
    const receiver = await receiverOf((request) => rejecting(poison, 400)(request));
    const { id } = await createDestination(app, { url: receiver.origin });
    receiver.always({ status: 503 });
    const [only = ''] = await recordGenerations(app, 1);
    poison.push(only);
    receiver.always(null);
    await untilCursor(id, ({ dropped }) => dropped['refused'] === 1);
    poison.pop();
    await app.sql('UPDATE dead_letters SET replay_requested_at = now() WHERE destination_id = $1', [id]);
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([only]);
    await eventually(
      () => app.sql('SELECT is_delivered FROM dead_letters WHERE destination_id = $1', [id]),
      ([letter]) => letter?.['is_delivered'] === true,
    );
  });

  it('stays in the log when everything is rejected: the destination pauses', async () => {
    const receiver = await receiverOf(() => ({
      reply: { status: 400, body: 'no such project' },
      stored: [],
    }));
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await recordGenerations(app, 90);
    const row = await untilCursor(id, ({ paused_at }) => paused_at !== null);
    expect(row).toMatchObject({ dropped: {}, delivered: '0', last_error_class: 'blocked' });
    expect(row.last_error_message).toBe('everything is refused: HTTP 400: no such project');
    expect(ids).toHaveLength(90);
  });
});

describe('a platform that accepts a request and drops a part of it', () => {
  it('receives no second request, and dropped traces are counted', async () => {
    const receiver = await receiverOf((request) => ({
      reply: {
        status: 200,
        body: { partialSuccess: { rejectedSpans: '2', errorMessage: 'span without a name' } },
      },
      stored: generationsIn(request),
    }));
    const { id } = await createDestination(
      app,
      { endpoint: receiver.origin },
      { kind: 'otel-collector', type: 'otel-collector' },
    );
    await recordGenerations(app, 10);
    const row = await untilDelivered(app, id, 8);
    expect(row).toMatchObject({ delivered: '8', dropped: { rejected: 2 }, failures: 0 });
    expect(row).toMatchObject({ last_error_class: 'refused', last_error_message: 'span without a name' });
    expect(receiver.stored).toHaveLength(10);
  });

  it('is paused while it drops everything, and gets everything when it recovers', async () => {
    let hasRecovered = false;
    const receiver = await receiverOf((request) => {
      if (hasRecovered) return { reply: { status: 200 }, stored: generationsIn(request) };
      const partialSuccess = { rejectedSpans: generationsIn(request).length, errorMessage: 'wrong project' };
      return { reply: { status: 200, body: { partialSuccess } }, stored: [] };
    });
    const { id } = await createDestination(
      app,
      { endpoint: receiver.origin },
      { kind: 'otel-collector', type: 'otel-collector' },
    );
    const ids = await recordGenerations(app, 40);
    const row = await untilCursor(id, ({ paused_at }) => paused_at !== null);
    expect(row).toMatchObject({ delivered: '0', dropped: {} });
    expect(row.last_error_message).toBe('everything is refused: wrong project');
    hasRecovered = true;
    expect(await untilDelivered(app, id, 40)).toMatchObject({ dropped: {}, paused_at: null });
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
  });
});

describe('a request that exceeds the size limit of the platform', () => {
  const MAX = 20_000;
  const small = (request: ReceivedDelivery): ReceiverResult =>
    request.bytes.length > MAX ? { reply: { status: 413 }, stored: [] } : traceCollector.check(request);

  it('is split until it is accepted', async () => {
    const receiver = await receiverOf(small);
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await recordGenerations(app, 60);
    const row = await untilDelivered(app, id, 60);
    expect(row).toMatchObject({ dropped: {}, failures: 0 });
    expect(receiver.stored.toSorted()).toEqual(ids.toSorted());
  });

  it('limits the batches that follow, also after another destination changed', async () => {
    // Nothing is answered before all are recorded: a whole batch, however slow the recording is.
    let finishRecording = (): void => undefined;
    const recorded = new Promise<void>((resolve) => (finishRecording = resolve));
    const receiver = await receiverOf((request) => recorded.then(() => small(request)));
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 60);
    finishRecording();
    await untilDelivered(app, id, 60);
    const refused = () => receiver.requests.filter(({ bytes }) => bytes.length > MAX).length;
    const rejectedFirst = refused();
    expect(rejectedFirst).toBeGreaterThan(0);
    await createDestination(app, { url: (await receiverOf(traceCollector.check)).origin });
    await recordGenerations(app, 60);
    await untilDelivered(app, id, 120);
    // The bound grows by a little with every accepted request, so that one may be refused again.
    expect(refused()).toBeLessThanOrEqual(rejectedFirst + 1);
  });

  it('is sent without the content of its single trace', async () => {
    const receiver = await receiverOf(small);
    const { id } = await createDestination(app, { url: receiver.origin });
    const [only] = await recordGenerations(app, 1, {}, contentOfText('x'.repeat(2 * MAX)));
    await untilDelivered(app, id, 1);
    expect(receiver.stored).toEqual([only]);
  });

  it('becomes a dead letter when it is too large without content', async () => {
    const receiver = await receiverOf(() => ({ reply: { status: 413 }, stored: [] }));
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 1);
    const row = await untilCursor(id, ({ dropped }) => dropped['too_large'] === 1);
    expect(row.delivered).toBe('0');
  });
});

describe('an expired generation', () => {
  it('is dropped and counted, and younger ones are delivered', async () => {
    const receiver = await receiverOf(traceCollector.check);
    receiver.always({ status: 503 });
    const { id } = await createDestination(app, { url: receiver.origin });
    await recordGenerations(app, 4);
    app.clock.advance(24 * 3_600_000 + 1);
    const [young] = await recordGenerations(app, 1);
    receiver.always(null);
    const row = await untilDelivered(app, id, 1);
    expect(row.dropped).toEqual({ expired: 4 });
    expect(receiver.stored).toEqual([young]);
  });
});
