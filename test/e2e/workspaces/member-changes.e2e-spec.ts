// Members added and removed in bulk: each counts as a change, so that the audit log grows within the limit of changes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';

const MEMBERS = 100;
const CHANGES = 250;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_CHANGES_PER_MINUTE: String(CHANGES) } });
});
afterAll(() => app?.close());

it('returns 429 once the members of bulk changes reach the limit of changes', async () => {
  const path = `/workspaces/${app.workspaceId}/members`;
  const body = { user_ids: Array.from({ length: MEMBERS }, (_, index) => `user-${index}`) };
  await askFor(200, app, 'post', `${path}/add`, { body });
  await askFor(200, app, 'post', `${path}/remove`, { body });
  expectError(await ask(app, 'post', `${path}/add`, { body }), 429, /250 changes a minute/);
  const entries = await app.sql("SELECT 1 FROM audit_log WHERE object_type = 'workspace_member'");
  expect(entries).toHaveLength(2 * MEMBERS);
  app.clock.advance(60_000);
  await askFor(200, app, 'post', `${path}/add`, { body });
});

it('counts a member that is named several times once', async () => {
  app.clock.advance(60_000);
  const path = `/workspaces/${app.workspaceId}/members`;
  const body = { user_ids: Array.from({ length: MEMBERS }, () => 'user-of-many-names') };
  for (let count = 0; count < 4; count++) await askFor(200, app, 'post', `${path}/add`, { body });
});

it('allows a request of more members than the limit of changes, alone in its minute', async () => {
  const tight = await createTestApp({ environment: { RATE_LIMIT_CHANGES_PER_MINUTE: '20' } });
  try {
    const path = `/workspaces/${tight.workspaceId}/members`;
    const body = { user_ids: Array.from({ length: MEMBERS }, (_, index) => `user-${index}`) };
    await askFor(200, tight, 'post', `${path}/add`, { body });
    expectError(await ask(tight, 'post', `${path}/remove`, { body }), 429, /20 changes a minute/);
    tight.clock.advance(60_000);
    await askFor(200, tight, 'post', `${path}/remove`, { body });
  } finally {
    await tight.close();
  }
});
