// A new key that has spent a share of its limit, and the report of it.
import { CrossingReporter } from '../../../src/deliveries/notifications/crossing-reporter.js';
import { ApiKeysRepository } from '../../../src/persistence/keys/api-keys.repository.js';
import { createKeySecret } from '../../../src/domain/keys/api-key.js';
import type { TestAccount, TestApp } from '../app/app.js';

/** `percent` of a limit of 100 USD for the day. The process of `app` reports it. */
export async function spendShare(app: TestApp, account: TestAccount, percent: number): Promise<void> {
  const { accountId, workspaceId } = account;
  const { id } = await app.application.get(ApiKeysRepository).create({
    accountId,
    workspaceId,
    kind: 'inference',
    name: 'Spender',
    secret: createKeySecret(),
    limit: 100n * 10n ** 12n,
    limitReset: 'daily',
    includeByokInLimit: false,
    expiresAt: null,
    creatorUserId: null,
  });
  const today = app.clock.now().toISOString().slice(0, 10);
  await app.sql(
    `INSERT INTO key_spend (workspace_id, api_key_id, last_day, total, daily, weekly, monthly)
     VALUES ($1, $2, $3, $4, $4, $4, $4)
     ON CONFLICT (workspace_id, api_key_id) DO UPDATE SET last_day = $3, daily = $4`,
    [workspaceId, id, today, percent],
  );
  await app.application.get(CrossingReporter).reportCalled({
    keys: [{ workspaceId, apiKeyId: id }],
    workspaceIds: [],
    accountIds: [],
  });
}
