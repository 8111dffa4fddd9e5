// The separate delivery process: its work, and its replacement when it dies.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { STEP_BACK } from '../../../src/runtime/delivery-process.js';
import type { TestApp } from '../../support/app/app.js';
import {
  DELIVERY_ENVIRONMENT,
  createDeliveryApp,
  createDestination,
} from '../../support/deliveries/deliveries.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  // This process serves calls only, so that it takes no deliveries from the others.
  app = await createDeliveryApp({ environment: { SIGNALBOX_ROLE: 'calls' } });
  receiver = await startReceiver(traceCollector);
  await createDestination(app, { url: receiver.origin });
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

const start = (environment: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> =>
  startServiceProcess({
    ...DELIVERY_ENVIRONMENT,
    DATABASE_URL: app.databaseUrl,
    LOG_LEVEL: 'debug',
    DELIVERY_PROCESS: 'own',
    ...environment,
  });

async function call({ baseUrl }: ServiceProcess): Promise<string> {
  const answer = await fetch(`${baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local/hashing', input: 'hello', dimensions: 8 }),
  });
  expect(answer.status).toBe(200);
  return String(answer.headers.get('x-generation-id'));
}

/** By the ids in responses. */
const arrived = (): readonly string[] => receiver.stored.map((id) => `gen-${id.replaceAll('-', '')}`);

const arrival = (id: string): Promise<readonly string[]> =>
  eventually(
    () => Promise.resolve(arrived()),
    (ids) => ids.includes(id),
  );

const metricsOf = async ({ baseUrl }: ServiceProcess): Promise<string> =>
  (await fetch(baseUrl.replace('/api/v1', '/metrics'))).text();

const delivered = (count: number): string =>
  `\nsignalbox_broadcast_delivered_total{kind="webhook"} ${count}\n`;

/** The ids of all processes that have logged a line, except the one that was started. */
const children = ({ lines, pid }: ServiceProcess): number[] => [
  ...new Set(lines.map((line) => (JSON.parse(line) as { pid: number }).pid).filter((other) => other !== pid)),
];

/** On Linux each has its own priority. */
const threadsOf = (pid: number): number[] =>
  process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a separate delivery process', () => {
  it('is replaced when it was killed, and ends with the service', async () => {
    const service = await start();
    try {
      await arrival(await call(service));
      const [first = 0] = await eventually(
        async () => children(service),
        ({ length }) => length > 0,
      );
      const priority = Math.min(getPriority(service.pid) + STEP_BACK, constants.priority.PRIORITY_LOW);
      await eventually(
        () => Promise.resolve(threadsOf(first).map((thread) => getPriority(thread))),
        (priorities) => priorities.every((one) => one === priority),
      );
      const metrics = await eventually(
        () => metricsOf(service),
        (text) => text.includes(delivered(1)),
      );
      expect(metrics).toContain('\nsignalbox_log_batch_generations_sum 1\n');

      // While it does not answer, and after it ended: no counter falls.
      process.kill(first, 'SIGSTOP');
      const whileStopped = await metricsOf(service);
      process.kill(first, 'SIGKILL');
      expect(whileStopped).toContain(delivered(1));
      await eventually(
        () => Promise.resolve(service.lines.join('\n')),
        (lines) => lines.includes(`process ${first} for deliveries ended (SIGKILL)`),
      );
      expect(await metricsOf(service)).toContain(delivered(1));
      await arrival(await call(service));
      await eventually(
        () => metricsOf(service),
        (text) => text.includes(delivered(2)),
      );
      const [, second = 0] = children(service);
      expect(isAlive(second)).toBe(true);

      // A terminal signals all processes; this one still ends after the calls.
      process.kill(second, 'SIGINT');
      await arrival(await call(service));
      expect(await service.stop()).toBe(0);
      expect(isAlive(second)).toBe(false);
    } finally {
      await service.kill();
    }
  });

  it('serves all workers, and ends with a service that was killed', async () => {
    const service = await start({ WORKERS: '2' });
    try {
      for (const id of await Promise.all(Array.from({ length: 10 }, () => call(service)))) await arrival(id);
      const processes = children(service);
      expect(processes).toHaveLength(3);
      await service.kill();
      await eventually(
        () => Promise.resolve(processes.filter(isAlive)),
        (alive) => alive.length === 0,
      );
    } finally {
      await service.kill();
    }
  });

  it('is not started where DELIVERY_PROCESS is shared', async () => {
    const service = await start({ DELIVERY_PROCESS: 'shared' });
    try {
      await arrival(await call(service));
      expect(children(service)).toEqual([]);
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
    }
  });
});
