// An account with calls of several keys in three workspaces, and a person of every role who reads them.
import { expect } from '@jest/globals';
import type { Response } from 'supertest';
import { ContentSweeper } from '../../../src/upkeep/content-sweeper.js';
import { createTestApp } from '../app/app.js';
import type { TestApp, TestKey } from '../app/app.js';
import { CHANGE } from '../app/console.js';
import { askAs, createPerson } from '../app/people.js';
import type { TestPerson } from '../app/people.js';
import { withIdleRollup } from '../database/rollups.js';
import { recordGenerations } from '../deliveries/deliveries.js';
import { askFor } from '../requests/admin.js';
import { embed } from '../requests/create-embedding.js';
import { recordRefusals } from '../requests/refusals.js';
import { createChatFacts } from './chat-generation.js';

const USD = 1_000_000_000_000n;
export const QUOTED = 'The provider quotes: my secret input';
export const SHARED = { requestId: 'request-shared', sessionId: 'session-shared', userId: 'user-shared' };
export const UNKNOWN_ID = `gen-${'0'.repeat(32)}`;
export const UNKNOWN_HASH = 'f'.repeat(64);

export type KeyName =
  'firstShared' | 'firstOwn' | 'secondShared' | 'secondOwn' | 'secondGone' | 'secondOther' | 'third';
export type RoleName =
  | 'owner'
  | 'admin'
  | 'viewer'
  | 'developer'
  | 'workspaceAdmin'
  | 'workspaceViewer'
  | 'member'
  | 'mixed'
  | 'idle';

export interface Call {
  readonly id: string;
  readonly uuid: string;
  readonly key: KeyName;
  readonly sessionId: string;
  readonly upstreamId: string;
  readonly requestId: string;
  /** A chat whose answer carries the id of its provider. */
  readonly isMessage: boolean;
}

export interface Listed {
  readonly id: string;
  readonly created_at: string;
  readonly api_key_hash: string;
  readonly error_message: string | null;
}

export interface Page {
  readonly data: readonly Listed[];
  readonly next_cursor: string | null;
}

export const ALL_KEYS: readonly KeyName[] = [
  'firstShared',
  'firstOwn',
  'secondShared',
  'secondOwn',
  'secondGone',
  'secondOther',
  'third',
];
const SECOND: readonly KeyName[] = ['secondShared', 'secondOwn', 'secondGone', 'secondOther'];
/** The keys whose calls a role reads, and those whose contents it reads as well. */
export const READS: Readonly<Record<RoleName, readonly KeyName[]>> = {
  owner: ALL_KEYS,
  admin: ALL_KEYS,
  viewer: ALL_KEYS,
  developer: ['firstOwn', 'secondOwn', 'secondGone'],
  workspaceAdmin: SECOND,
  workspaceViewer: SECOND,
  member: ['secondOwn', 'secondGone'],
  mixed: ['firstShared', 'firstOwn', 'secondOwn', 'secondGone'],
  idle: [],
};
export const CONTENTS: Readonly<Record<RoleName, readonly KeyName[]>> = {
  ...READS,
  viewer: [],
  workspaceViewer: [],
  mixed: ['secondOwn', 'secondGone'],
};
// Each has the keys that are called own.
const DEVELOPERS: readonly RoleName[] = ['developer', 'member', 'mixed'];
const PLAIN: readonly RoleName[] = ['owner', 'admin', 'viewer', 'workspaceAdmin', 'workspaceViewer', 'idle'];
export const ROLES: readonly RoleName[] = [...PLAIN, ...DEVELOPERS];

export class CallsByRole {
  calls: readonly Call[] = [];

  private constructor(
    readonly app: TestApp,
    /** Of the account's default workspace, and of the second one. */
    readonly first: string,
    readonly second: string,
    readonly people: Readonly<Record<RoleName, TestPerson>>,
    readonly keys: Readonly<Record<KeyName, TestKey>>,
  ) {}

  static async create(): Promise<CallsByRole> {
    const app = await createTestApp({
      override: (testing) => {
        withIdleRollup(testing);
        // The contents are of earlier days.
        testing.overrideProvider(ContentSweeper).useValue({});
      },
      environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' },
    });
    const first = app.workspaceId;
    const second = await createWorkspace(app, 'second');
    const third = await createWorkspace(app, 'third');
    const people = {
      owner: await createPerson(app, { account: 'owner' }),
      admin: await createPerson(app, { account: 'admin' }),
      viewer: await createPerson(app, { account: 'viewer' }),
      developer: await createPerson(app, { account: 'developer' }),
      workspaceAdmin: await createPerson(app, { workspaces: { [second]: 'admin' } }),
      workspaceViewer: await createPerson(app, { workspaces: { [second]: 'viewer' } }),
      member: await createPerson(app, { workspaces: { [second]: 'member' } }),
      mixed: await createPerson(app, { workspaces: { [first]: 'viewer', [second]: 'member' } }),
      idle: await createPerson(app, {}),
    };
    const create = (name: KeyName, workspaceId: string, creatorUserId: string | null = null) =>
      app.createKey({ name: `Called ${name}`, workspaceId, creatorUserId });
    const keys = {
      firstShared: await create('firstShared', first),
      firstOwn: await create('firstOwn', first),
      secondShared: await create('secondShared', second),
      secondOwn: await create('secondOwn', second),
      secondGone: await create('secondGone', second),
      secondOther: await create('secondOther', second, people.idle.id),
      third: await create('third', third),
    };
    const created = new CallsByRole(app, first, second, people, keys);
    created.calls = await recordCalls(app, keys);
    for (const { secret } of Object.values(keys)) await embed(app, { model: 'local/hashing' }, secret);
    await recordRefusals(app);
    await app.sql('UPDATE api_keys SET deleted_at = now() WHERE id = $1', [keys.secondGone.record.id]);
    return created;
  }

  /** The keys that are called own become those of the developer: each test has one. */
  async giveOwnKeysTo(name: RoleName): Promise<void> {
    if (!DEVELOPERS.includes(name)) return;
    const { firstOwn, secondOwn, secondGone } = this.keys;
    await this.app.sql('UPDATE api_keys SET creator_user_id = $1 WHERE id = ANY($2::uuid[])', [
      this.people[name].id,
      [firstOwn, secondOwn, secondGone].map(({ record }) => record.id),
    ]);
  }

  readonly hashOf = (key: KeyName): string => this.keys[key].record.hash;
  readonly workspaceOf = (key: KeyName): string => this.keys[key].record.workspaceId;

  callsOf(name: RoleName): readonly Call[] {
    return this.calls.filter((call) => reads(name, call));
  }

  get(name: RoleName, path: string): Promise<Response> {
    return askAs(this.people[name], this.app, 'get', path);
  }

  async csv(name: RoleName, path: string): Promise<Response> {
    return this.app.http
      .get(`/api/v1${path}`)
      .set({ ...CHANGE, cookie: this.people[name].cookie, accept: 'text/csv' });
  }

  /** The text has nothing of the calls and keys that are out of reach. */
  expectWithin(name: RoleName, text: string): void {
    const outside = this.calls.filter((call) => !reads(name, call));
    const names = outside.flatMap(({ id, uuid, upstreamId }) => [id, id.slice(4), uuid, upstreamId]);
    const ofKeys = ALL_KEYS.flatMap((key) =>
      READS[name].includes(key) ? [] : [this.hashOf(key), `Called ${key}`, this.keys[key].record.id],
    );
    expect([...names, ...ofKeys].filter((one) => text.includes(one))).toEqual([]);
  }

  async dataOf<Data>(name: RoleName, path: string): Promise<Data> {
    const response = await this.get(name, path);
    expect([path, response.status, response.body]).toEqual([path, 200, response.body]);
    this.expectWithin(name, response.text);
    return (response.body as { data: Data }).data;
  }

  /** All pages of the list. */
  async listAll(name: RoleName, query: string): Promise<readonly Listed[]> {
    const found: Listed[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next = cursor === '' ? '' : `&cursor=${cursor}`;
      const response = await this.get(name, `/generations?limit=3&${query}${next}`);
      expect([query, response.status, response.body]).toEqual([query, 200, response.body]);
      const page = response.body as Page;
      this.expectWithin(name, response.text);
      found.push(...page.data);
      cursor = page.next_cursor;
      if (cursor !== null) this.expectWithin(name, Buffer.from(cursor, 'base64url').toString('latin1'));
    }
    return found;
  }

  /** The calls of a management key. */
  async listAsKey(filter = ''): Promise<readonly Listed[]> {
    const path = `/generations?all_workspaces=true&limit=100&${filter}`;
    return (await askFor<Page>(200, this.app, 'get', path)).data;
  }
}

export function reads(name: RoleName, { key }: Pick<Call, 'key'>): boolean {
  return READS[name].includes(key);
}

export function messageOf({ body }: Response): string {
  return (body as { error: { message: string } }).error.message;
}

async function createWorkspace(app: TestApp, slug: string): Promise<string> {
  const body = { name: slug, slug };
  return (await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', { body })).data.id;
}

/** Calls of every key over several days, one of each failed. */
async function recordCalls(app: TestApp, keys: CallsByRole['keys']): Promise<readonly Call[]> {
  const found: Call[] = [];
  const moments = [
    '2026-11-11T09:30:00Z',
    '2026-11-16T10:15:00Z',
    '2026-11-17T23:59:59Z',
    '2026-11-18T08:00:00Z',
  ];
  for (const [number, key] of ALL_KEYS.entries()) {
    const { record } = keys[key];
    for (const [index, at] of moments.entries()) {
      const isFailed = index === 1;
      const names = {
        sessionId: `session-${key}-${index}`,
        upstreamId: `msg_${key}${index}`,
        requestId: `request-${key}-${index}`,
      };
      const shared = index === 0 ? SHARED : names;
      const [uuid = ''] = await recordGenerations(
        app,
        1,
        {
          ...names,
          ...shared,
          workspaceId: record.workspaceId,
          createdAt: new Date(Date.parse(at) + number * 1_000),
          model: index % 2 === 0 ? 'vendor/one' : 'vendor/two',
          provider: index % 2 === 0 ? 'openai' : 'jina',
          userId: index === 0 ? SHARED.userId : `user-${key}`,
          durationMs: 10 ** (number % 4) * (index + 1),
          promptTokens: 7 ** number,
          totalTokens: 7 ** number,
          cost: USD * 3n ** BigInt(number),
          ...(index === 3 ? { operation: 'chat' as const, chat: createChatFacts({ wire: 'messages' }) } : {}),
          ...(isFailed ? { status: 502, errorType: 'provider_unavailable', errorMessage: QUOTED } : {}),
        },
        { items: [`input of ${key} ${index}`], isTruncated: false, errorMessage: null },
        record,
      );
      const id = `gen-${uuid.replaceAll('-', '')}`;
      found.push({ ...names, ...shared, id, uuid, key, isMessage: index === 3 });
    }
  }
  return found;
}
