// A leaked key: ways to revoke it, the time until every replica knows, and the audit log entry.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { askFor, ask } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { reportCounts } from '../support/fuzz/budget.js';

// Milliseconds. A hundred times the usual duration; the figure is printed.
const AT_THE_LATEST = 20_000;

let app: TestApp;
let replica: TestApp;
const measured: Record<string, number> = {};
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0' } });
  replica = await app.startReplica();
});
afterAll(async () => {
  reportCounts('a leaked key is refused after ms', measured);
  await replica.close();
  await app.close();
});

const statusAt = async (one: TestApp, secret: string): Promise<number> =>
  (await ask(one, 'get', '/key', { key: secret })).status;

/** Milliseconds from the response of the change until the other replica rejects the key. */
async function untilRejected(secret: string): Promise<number> {
  const startedAt = performance.now();
  while ((await statusAt(replica, secret)) !== 401) {
    if (performance.now() - startedAt > AT_THE_LATEST) throw new Error('still let in');
  }
  return performance.now() - startedAt;
}

interface AuditPage {
  readonly data: readonly {
    readonly action: string;
    readonly actor: { readonly ip: string };
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>> | null;
  }[];
}

it.each([
  ['disabled', 'patch', '', { disabled: true }, 200, 'update'],
  ['rotated without grace', 'post', '/rotate', { grace_period_seconds: 0 }, 200, 'rotate'],
  ['deleted', 'delete', '', undefined, 200, 'delete'],
] as const)('rejects on every replica at once a key that is %s, and records it', async (...row) => {
  const [name, method, suffix, body, status, action] = row;
  const { secret, record } = await app.createKey();
  // Both have cached it.
  for (const one of [app, replica, app, replica]) expect(await statusAt(one, secret)).toBe(200);
  const answer = await ask(app, method, `/keys/${record.hash}${suffix}`, body ? { body } : {});
  expect(answer.status).toBe(status);
  const milliseconds = await untilRejected(secret);
  measured[name] = Math.round(milliseconds * 10) / 10;
  expect(await statusAt(app, secret)).toBe(401);
  expect(milliseconds).toBeLessThan(AT_THE_LATEST);
  const { data } = await askFor<AuditPage>(200, app, 'get', `/audit?object_id=${record.hash}`);
  expect(data[0]).toMatchObject({ action, actor: { ip: expect.stringContaining('127.0.0.1') } });
  expect(JSON.stringify(data)).not.toContain(secret);
});
