// Destinations in the database: the limit under concurrency, the stored config, and the start of deliveries.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { DescribeChange } from '../../src/domain/audit.js';
import type { Destination, NewDestination } from '../../src/domain/destinations/destination.js';
import { AppError } from '../../src/domain/errors.js';
import { DestinationsRepository } from '../../src/persistence/destinations/destinations.repository.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../support/app/app.js';
import type { TestAccount, TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { createGeneration } from '../support/generations/generation.js';
import { untilLockWait } from '../support/database/waiting-statements.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const repositoryOf = (replica: TestApp): DestinationsRepository =>
  replica.application.get(DestinationsRepository);

function describeDestination(
  { accountId, workspaceId }: Pick<TestAccount, 'accountId' | 'workspaceId'>,
  overrides: Partial<NewDestination> = {},
): NewDestination {
  return {
    accountId,
    workspaceId,
    kind: 'webhook',
    type: 'webhook',
    name: 'Hook',
    enabled: true,
    privacyMode: false,
    broadcastCost: false,
    broadcastIdentity: false,
    broadcastRequestContext: false,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    regions: ['global'],
    config: { url: 'https://secret-host.test/traces', headers: { 'X-Token': 'very-secret-token' } },
    ...overrides,
  };
}

const slotsOf = async (workspaceId: string): Promise<number[]> =>
  (
    await app.sql<{ slot: number }>(
      'SELECT slot FROM destinations WHERE workspace_id = $1 AND slot IS NOT NULL ORDER BY slot',
      [workspaceId],
    )
  ).map(({ slot }) => slot);

const describeCreation: DescribeChange<Destination> = (before, after) => ({
  author: {
    accountId: after!.accountId,
    hash: 'c'.repeat(64),
    userId: null,
    label: 'sk-...test',
    address: '127.0.0.1',
    requestId: 'request',
    userAgent: null,
  },
  action: 'create',
  objectType: 'destination',
  objectId: after!.id,
  workspaceId: after!.workspaceId,
  before,
  after: { name: after!.name },
});

const idsIn = async ({ accountId }: Pick<TestAccount, 'accountId'>, text: string): Promise<string[]> =>
  (await app.sql<{ id: string }>(text, [accountId])).map(({ id }) => id).toSorted();

describe('the limit of five', () => {
  it('is exact for 60 concurrent creations on two replicas', async () => {
    const account = await app.createAccount();
    const replica = await app.startReplica();
    try {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_value, index) =>
          repositoryOf(index % 2 ? app : replica).createWithinLimit(describeDestination(account)),
        ),
      );
      const rejections = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as AppError] : [],
      );
      expect(rejections).toHaveLength(55);
      for (const rejection of rejections)
        expect(rejection).toMatchObject({ code: 'limit_reached', status: 409 });
      expect(await slotsOf(account.workspaceId)).toEqual([1, 2, 3, 4, 5]);
    } finally {
      await replica.close();
    }
  });

  it('is separate for every kind, workspace and account', async () => {
    const [one, two] = [await app.createAccount(), await app.createAccount()];
    const creates = [one, two].flatMap((account) =>
      ['webhook', 'otel-collector'].flatMap((kind) =>
        Array.from({ length: 5 }, () => describeDestination(account, { kind, type: kind })),
      ),
    );
    const made = await Promise.all(creates.map((each) => repositoryOf(app).createWithinLimit(each)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(20);
  });

  it('frees the slot of a deleted destination for one of several concurrent creations', async () => {
    const account = await app.createAccount();
    const create = () => repositoryOf(app).createWithinLimit(describeDestination(account));
    for (let count = 0; count < 5; count++) await create();
    await app.sql(
      'UPDATE destinations SET slot = NULL, deleted_at = now() WHERE workspace_id = $1 AND slot = 2',
      [account.workspaceId],
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, create));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await slotsOf(account.workspaceId)).toEqual([1, 2, 3, 4, 5]);
  });

  it('is exact for concurrent creations of two kinds, and every audit entry has its destination', async () => {
    const account = await app.createAccount();
    const kinds = ['webhook', 'otel-collector'];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_value, index) => {
        const kind = kinds[index % 2]!;
        const destination = describeDestination(account, { kind, type: kind });
        return repositoryOf(app).createWithinLimit(destination, describeCreation);
      }),
    );
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(made).toHaveLength(10);
    expect(await slotsOf(account.workspaceId)).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    const ids = made.map(({ id }) => id).toSorted();
    expect(await idsIn(account, 'SELECT object_id AS id FROM audit_log WHERE account_id = $1')).toEqual(ids);
    expect(
      await idsIn(
        account,
        `SELECT destination_id AS id FROM delivery_cursors JOIN workspaces ON workspaces.id = workspace_id
        WHERE account_id = $1`,
      ),
    ).toEqual(ids);
  });

  it("rejects a creation in another account's workspace, and no concurrent one", async () => {
    const [one, other] = [await app.createAccount(), await app.createAccount()];
    const workspaces = [one.workspaceId, other.workspaceId, one.workspaceId];
    const outcomes = await Promise.allSettled(
      workspaces.map((workspaceId) =>
        repositoryOf(app).createWithinLimit(describeDestination({ ...one, workspaceId })),
      ),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request', status: 400 } });
    expect(await slotsOf(other.workspaceId)).toEqual([]);
  });

  it('leaves nothing in a workspace that is deleted at the same time', async () => {
    const account = await app.createAccount();
    await app.sql('UPDATE workspaces SET slug = NULL, deleted_at = now() WHERE id = $1', [
      account.workspaceId,
    ]);
    await expect(
      repositoryOf(app).createWithinLimit(describeDestination(account), describeCreation),
    ).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
    expect(await slotsOf(account.workspaceId)).toEqual([]);
    expect(await idsIn(account, 'SELECT object_id AS id FROM audit_log WHERE account_id = $1')).toEqual([]);
  });

  it('waits for the end of a running deletion, then rejects creations in that workspace only', async () => {
    const [one, deleted, two] = [
      await app.createAccount(),
      await app.createAccount(),
      await app.createAccount(),
    ];
    const deletion = new pg.Client({ connectionString: app.databaseUrl });
    await deletion.connect();
    try {
      await deletion.query('BEGIN');
      await deletion.query('UPDATE workspaces SET slug = NULL, deleted_at = now() WHERE id = $1', [
        deleted.workspaceId,
      ]);
      const creations = Promise.allSettled(
        [one, deleted, two, one].map((account) =>
          repositoryOf(app).createWithinLimit(describeDestination(account), describeCreation),
        ),
      );
      await untilLockWait(app);
      await deletion.query('COMMIT');
      const outcomes = await creations;
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, true]);
      expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request' } });
    } finally {
      await deletion.end();
    }
    expect(await slotsOf(deleted.workspaceId)).toEqual([]);
    expect(await slotsOf(one.workspaceId)).toEqual([1, 2]);
  });

  it('notifies of the workspace once for each created destination', async () => {
    const accounts = [await app.createAccount(), await app.createAccount()];
    const listener = new pg.Client({ connectionString: app.databaseUrl });
    const counted = new Map<string, number>();
    listener.on('notification', ({ payload = '' }) => counted.set(payload, (counted.get(payload) ?? 0) + 1));
    await listener.connect();
    try {
      await listener.query('LISTEN broadcast_terms_changed');
      const created = [...accounts, ...accounts].map((account) =>
        repositoryOf(app).createWithinLimit(describeDestination(account)),
      );
      await Promise.all(created);
      // A session receives its notifications before the result of its next statement.
      await listener.query('SELECT 1');
    } finally {
      await listener.end();
    }
    for (const { workspaceId } of accounts) expect(counted.get(workspaceId)).toBe(2);
  });

  it('rejects an invalid creation without an effect on concurrent ones', async () => {
    const [one, deleted, two] = [
      await app.createAccount(),
      await app.createAccount(),
      await app.createAccount(),
    ];
    await app.sql('UPDATE workspaces SET slug = NULL, deleted_at = now() WHERE id = $1', [
      deleted.workspaceId,
    ]);
    const foreign = { accountId: one.accountId, workspaceId: two.workspaceId };
    const outcomes = await Promise.allSettled(
      [one, deleted, one, foreign, two].map((account) =>
        repositoryOf(app).createWithinLimit(describeDestination(account), describeCreation),
      ),
    );
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(await slotsOf(one.workspaceId)).toEqual([1, 2]);
    expect(await slotsOf(two.workspaceId)).toEqual([1]);
    expect(await idsIn(one, 'SELECT object_id AS id FROM audit_log WHERE account_id = $1')).toHaveLength(2);
  });

  it.each([
    ['a sixth slot', 'slot = 6'],
    ['no slot for one that is there', 'slot = NULL'],
    ['a slot for one that is deleted', 'deleted_at = now()'],
    ['a sampling rate of nothing', 'sampling_rate = 0'],
    ['a sampling rate above one', 'sampling_rate = 1.5'],
  ])('cannot be exceeded by SQL: %s', async (_name, change) => {
    const { id } = await repositoryOf(app).createWithinLimit(describeDestination(await app.createAccount()));
    await expect(app.sql(`UPDATE destinations SET ${change} WHERE id = $1`, [id])).rejects.toThrow('check');
  });

  it('rejects the workspace of another account', async () => {
    const other = await app.createAccount();
    const create = repositoryOf(app).createWithinLimit(
      describeDestination({ accountId: app.accountId, workspaceId: other.workspaceId }),
    );
    await expect(create).rejects.toThrow();
    expect(await slotsOf(other.workspaceId)).toEqual([]);
  });
});

describe('a stored config', () => {
  it('is returned unchanged, and is unreadable in the database', async () => {
    const account = await app.createAccount();
    const given = describeDestination(account, {
      privacyMode: true,
      broadcastCost: true,
      samplingRate: 0.0001,
      apiKeyHashes: ['b'.repeat(64), 'a'.repeat(64)],
      filterRules: {
        enabled: false,
        groups: [{ logic: 'or', rules: [{ field: 'model', operator: 'exists' }] }],
      },
      regions: ['europe'],
      name: 'Ünïcode \u{1f600}',
    });
    const made: Destination = await repositoryOf(app).createWithinLimit(given);
    expect(made).toMatchObject({
      ...given,
      version: 1,
      createdAt: app.clock.now(),
      updatedAt: app.clock.now(),
    });
    // Also in the database's order of members, which later reads return.
    const found = await repositoryOf(app).find(account.accountId, made.id);
    expect(JSON.stringify(made)).toBe(JSON.stringify(found));
    const rows = await app.sql<{ row: string }>(
      `SELECT destinations::text || encode(config_ciphertext, 'escape') AS row FROM destinations WHERE id = $1`,
      [made.id],
    );
    expect(rows[0]!.row).toContain('webhook');
    expect(rows[0]!.row).not.toMatch(/secret/);
  });

  it('stops a start without its encryption key, which the error names', async () => {
    await repositoryOf(app).createWithinLimit(describeDestination(await app.createAccount()));
    const environment = { ENCRYPTION_KEYS: Buffer.alloc(32, 9).toString('base64') };
    await expect(createTestApp({ databaseUrl: app.databaseUrl, environment })).rejects.toThrow(
      /^ENCRYPTION_KEYS lacks [0-9a-f]{8}, which encrypted/,
    );
  });
});

describe('the cursor of a new destination', () => {
  const positionOf = async ({ id }: Destination): Promise<bigint> => {
    const [row] = await app.sql<{ log_transaction: string }>(
      'SELECT log_transaction FROM delivery_cursors WHERE destination_id = $1',
      [id],
    );
    return BigInt(row!.log_transaction);
  };
  const transactionOf = async (id: string): Promise<bigint> => {
    const [row] = await app.sql<{ log_transaction: string }>(
      'SELECT log_transaction FROM generations WHERE id = $1',
      [id],
    );
    return BigInt(row!.log_transaction);
  };

  it('is behind every committed generation and before every later one', async () => {
    const log = app.application.get(GenerationLog);
    const [before, after] = [createGeneration(app.key), createGeneration(app.key)];
    await log.append(before);
    // Other test files have databases on this server: a cursor is before their older transactions as well.
    await eventually(
      () =>
        app.sql<{ is_behind: boolean }>(
          `SELECT log_transaction < pg_snapshot_xmin(current_log_snapshot()::pg_snapshot)::text::bigint AS is_behind
           FROM generations WHERE id = $1`,
          [before.id],
        ),
      ([row]) => row?.is_behind === true,
    );
    const made = await repositoryOf(app).createWithinLimit(describeDestination(await app.createAccount()));
    await log.append(after);
    expect(await transactionOf(before.id)).toBeLessThanOrEqual(await positionOf(made));
    expect(await transactionOf(after.id)).toBeGreaterThan(await positionOf(made));
  });

  it('is before a transaction in progress that commits later, however long it takes', async () => {
    const slow = new pg.Client({ connectionString: app.databaseUrl });
    await slow.connect();
    try {
      await slow.query('BEGIN');
      const { rows } = await slow.query<{ id: string }>('SELECT current_log_transaction()::text AS id');
      // Others commit after it has begun and before the destination is created.
      await app.application.get(GenerationLog).append(createGeneration(app.key));
      const made = await repositoryOf(app).createWithinLimit(describeDestination(await app.createAccount()));
      expect(await positionOf(made)).toBeLessThan(BigInt(rows[0]!.id));
      await slow.query('COMMIT');
    } finally {
      await slow.end();
    }
  });
});
