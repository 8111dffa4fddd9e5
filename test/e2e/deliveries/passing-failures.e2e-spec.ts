// A platform that fails for a moment, at every kind whose address can be set: all traces arrive, and none becomes a dead
// letter. The kinds with fixed addresses read the same statuses (deliveries.answers.contract-spec.ts).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
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
import { DESTINATION_RECEIVERS } from '../../support/receivers/index.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';

const COUNT = 12;
const KINDS = DESTINATION_RECEIVERS.flatMap((receiver) =>
  receiver.configFor('http://127.0.0.1:1') === null ? [] : [{ type: receiver.type, receiver }],
);

let app: TestApp;
let running: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await running.close();
});
afterAll(() => app.close());

describe.each(KINDS)('$type', ({ type, receiver }) => {
  it('delivers everything after 500, 408 and 530, and leaves no dead letter', async () => {
    running = await startReceiver(receiver);
    running.script(
      { status: 500 },
      { status: 408 },
      { status: 530, body: 'error code: 1033' },
      { status: 500 },
    );
    const config = receiver.configFor(running.origin) ?? {};
    const { id } = await createDestination(app, config, { kind: type, type });
    const ids = await recordGenerations(app, COUNT);
    await untilDelivered(app, id, COUNT);
    expect(running.stored.toSorted()).toEqual(ids.toSorted());
    expect(await readDeadLetters(app, id)).toEqual([]);
    expect(await readCursor(app, id)).toMatchObject({ failures: 0, dropped: {} });
  });
});
