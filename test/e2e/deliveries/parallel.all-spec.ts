// A destination that lags gets several requests at once: nothing is lost or repeated, and the traces of a session arrive in
// the order of the log.
import { setTimeout as latency } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestApp } from '../../support/app/app.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  readDeadLetters,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { ReceiverReply, RunningReceiver } from '../../support/receivers/receiver.js';
import { generationsIn } from '../../support/deliveries/trace-collector.js';

const SESSIONS = 20;
const COUNT = 600;
// Milliseconds that the platform takes for a request: longer than a busy machine takes to encode the next one.
const LATENCY = 300;
const MAX_REQUESTS = 4;
const ACCEPTED: ReceiverReply = { status: 200 };

let app: TestApp;
let platform: RunningReceiver;
/** The answer to a request with these generations. */
let answer: (ids: readonly string[]) => ReceiverReply | Promise<ReceiverReply>;
/** The platform answers nothing until all calls of a test are recorded: a backlog, however fast the machine is. */
let recorded: Promise<void>;
let finishRecording: () => void;
let onArrival: (ids: readonly string[]) => void;
const unanswered = new Set<readonly string[]>();
let inFlight = 0;
let mostInFlight = 0;

beforeAll(async () => {
  app = await createDeliveryApp();
  platform = await startReceiver({
    check: async (request) => {
      const ids = generationsIn(request);
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      unanswered.add(ids);
      onArrival(ids);
      await recorded;
      await latency(LATENCY);
      inFlight--;
      const reply = await answer(ids);
      unanswered.delete(ids);
      return { reply, stored: reply === ACCEPTED ? ids : [] };
    },
  });
});
beforeEach(() => {
  startRecording();
  answer = () => ACCEPTED;
  onArrival = () => undefined;
  mostInFlight = 0;
});
afterEach(async () => {
  await deleteAllDestinations(app);
  platform.forget();
});
afterAll(async () => {
  await app.close();
  await platform.close();
});

function startRecording(): void {
  recorded = new Promise((resolve) => {
    finishRecording = resolve;
  });
}

/** Sessions whose calls alternate, and calls without one. */
async function recordSessions(count = COUNT, into = app): Promise<readonly string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      recordGenerations(into, 1, { sessionId: index % 5 === 4 ? null : `session-${index % SESSIONS}` }),
    ),
  );
  finishRecording();
  return ids.flat();
}

async function expectSessionsInOrder(arrived: readonly string[]): Promise<void> {
  const logged = await app.sql<{ id: string; session: string }>(
    `SELECT id, session_id AS session FROM generations WHERE session_id IS NOT NULL AND id = ANY($1)
    ORDER BY log_transaction, log_ordinal`,
    [arrived],
  );
  const sessionOf = new Map(logged.map(({ id, session }) => [id, session]));
  for (const session of new Set(sessionOf.values())) {
    const isOf = (id: string) => sessionOf.get(id) === session;
    expect(arrived.filter(isOf)).toEqual(logged.map(({ id }) => id).filter(isOf));
  }
}

describe('a platform that takes its time', () => {
  it('gets several requests at once while it lags, and each generation once', async () => {
    const { id } = await createDestination(app, { url: platform.origin });
    const ids = await recordSessions();
    await untilDelivered(app, id, COUNT);
    expect(mostInFlight).toBeGreaterThan(1);
    expect(mostInFlight).toBeLessThanOrEqual(MAX_REQUESTS);
    expect(platform.stored.toSorted()).toEqual(ids.toSorted());
    await expectSessionsInOrder(platform.stored);
    expect(await readCursor(app, id)).toMatchObject({ delivered: String(COUNT), dropped: {}, failures: 0 });
  });

  it('gets nothing twice when one of several requests fails', async () => {
    const { id } = await createDestination(app, { url: platform.origin });
    const failed = new Set<string>();
    answer = (ids) => {
      // Each first request beside others fails once.
      const isFirst = inFlight > 0 && !ids.some((each) => failed.has(each));
      if (isFirst) for (const each of ids) failed.add(each);
      return isFirst ? { status: 503 } : ACCEPTED;
    };
    const ids = await recordSessions();
    await untilDelivered(app, id, COUNT);
    expect(failed.size).toBeGreaterThan(0);
    expect(platform.stored.toSorted()).toEqual(ids.toSorted());
    await expectSessionsInOrder(platform.stored);
    expect(await readDeadLetters(app, id)).toEqual([]);
  });

  it('leaves one dead letter for the record that it rejects', async () => {
    const { id } = await createDestination(app, { url: platform.origin });
    let poison: string | undefined;
    answer = (ids) => {
      if (inFlight > 0) poison ??= ids.at(-1);
      return poison !== undefined && ids.includes(poison) ? { status: 400 } : ACCEPTED;
    };
    const ids = await recordSessions();
    await untilDelivered(app, id, COUNT - 1);
    expect(platform.stored.toSorted()).toEqual(ids.filter((each) => each !== poison).toSorted());
    await expectSessionsInOrder(platform.stored);
    expect(await readDeadLetters(app, id)).toMatchObject([{ generation_id: poison, reason: 'refused' }]);
    expect(await readCursor(app, id)).toMatchObject({ dropped: { refused: 1 } });
  });

  it('gets the requests in flight again, and no others, when the claim is lost', async () => {
    const { id } = await createDestination(app, { url: platform.origin });
    // The generations in flight when the claim is lost, and those that its owner sends before the next owner begins.
    const lost = new Set<string>();
    let hasNextBegun = false;
    let losing: Promise<unknown> | undefined;
    onArrival = (ids) => {
      if (!losing) return;
      hasNextBegun ||= ids.some((each) => lost.has(each));
      if (!hasNextBegun) for (const each of ids) lost.add(each);
    };
    answer = async () => {
      if (mostInFlight < 2) return ACCEPTED;
      if (!losing) for (const each of [...unanswered].flat()) lost.add(each);
      // Like the process that owned it: no consumer has this claim any more.
      losing ??= app.sql(
        `UPDATE delivery_cursors SET lease_owner = gen_random_uuid(), lease_expires_at = now() WHERE destination_id = $1`,
        [id],
      );
      await losing;
      return ACCEPTED;
    };
    const ids = await recordSessions();
    await untilDelivered(app, id, COUNT);
    const arrivals = new Map(ids.map((each) => [each, 0]));
    for (const each of platform.stored) arrivals.set(each, (arrivals.get(each) ?? 0) + 1);
    const repeated = [...arrivals].filter(([, count]) => count !== 1);
    expect(repeated.filter(([, count]) => count !== 2)).toEqual([]);
    expect(repeated.map(([each]) => each).toSorted()).toEqual([...lost].toSorted());
    await expectSessionsInOrder([...new Set(platform.stored)]);
    expect(await readCursor(app, id)).toMatchObject({ delivered: String(COUNT) });
  });

  it('gets one request at a time, in the order of commit, if the operator wants it', async () => {
    const strict = await createDeliveryApp({ environment: { DELIVERY_REQUESTS_IN_FLIGHT: '1' } });
    try {
      const { id } = await createDestination(strict, { url: platform.origin });
      await recordSessions(COUNT, strict);
      await untilDelivered(strict, id, COUNT);
      const logged = await strict.sql<{ id: string }>(
        'SELECT id FROM generations ORDER BY log_transaction, log_ordinal',
      );
      expect(platform.stored).toEqual(logged.map((row) => row.id));
      expect(mostInFlight).toBe(1);
    } finally {
      await strict.close();
    }
  });

  it('gets one request at a time once it has caught up', async () => {
    const { id } = await createDestination(app, { url: platform.origin });
    await recordSessions();
    await untilDelivered(app, id, COUNT);
    mostInFlight = 0;
    for (let turn = 1; turn <= 5; turn++) {
      startRecording();
      await recordSessions(20);
      await untilDelivered(app, id, COUNT + turn * 20);
    }
    expect(mostInFlight).toBe(1);
  });
});
