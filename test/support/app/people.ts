// People with roles, signed in to the console: their requests as its pages send them.
import type { Response } from 'supertest';
import { createSessionId, hashSessionId } from '../../../src/domain/people/console-session.js';
import { createPersonId } from '../../../src/domain/people/person.js';
import type { AccountRole, WorkspaceRole } from '../../../src/domain/people/person.js';
import { Installation } from '../../../src/persistence/database/installation.js';
import { ConsoleSessionsRepository } from '../../../src/persistence/keys/console-sessions.repository.js';
import type { TestAccount, TestApp } from './app.js';
import { CHANGE } from './console.js';

const HOUR = 3_600_000;

export interface Roles {
  readonly account?: AccountRole;
  /** By the id of the workspace. */
  readonly workspaces?: Readonly<Record<string, WorkspaceRole>>;
}

export interface TestPerson {
  readonly id: string;
  /** The `Cookie` header of the person's browser. */
  readonly cookie: string;
}

/** Of the account of the app, unless another one is named. */
export async function createPerson(
  app: TestApp,
  { account: role, workspaces = {} }: Roles,
  { accountId }: Pick<TestAccount, 'accountId'> = app,
): Promise<TestPerson> {
  const id = createPersonId();
  await app.sql(
    `INSERT INTO persons (account_id, id, issuer, subject, email, hand_role)
     VALUES ($1, $2, 'https://id.example.com', $2, $2 || '@example.com', $3)`,
    [accountId, id, role ?? null],
  );
  for (const [workspaceId, ofWorkspace] of Object.entries(workspaces))
    await grant(app, id, workspaceId, ofWorkspace);
  return { id, cookie: await signInPerson(app, { accountId, id }) };
}

/** Gives the person a role in a workspace. */
export async function grant(
  app: TestApp,
  personId: string,
  workspaceId: string,
  role: WorkspaceRole,
): Promise<void> {
  await app.sql(
    `INSERT INTO workspace_members (workspace_id, user_id, id, role, hand_role, created_at)
     VALUES ($1, $2, gen_random_uuid(), $3, $3, now())`,
    [workspaceId, personId, role],
  );
}

export async function setAccountRole(
  app: TestApp,
  personId: string,
  role: AccountRole | null,
): Promise<void> {
  await app.sql('UPDATE persons SET hand_role = $2 WHERE id = $1', [personId, role]);
}

/** A new session; null in the answer of the repository would be a disabled person. */
export async function signInPerson(
  app: TestApp,
  person: { readonly accountId: string; readonly id: string },
): Promise<string> {
  const id = createSessionId();
  const now = app.clock.now();
  const isCreated = await app.application.get(ConsoleSessionsRepository).createForPerson(person, {
    idHash: hashSessionId(id),
    secretHash: null,
    personId: person.id,
    createdAt: now,
    lastSeenAt: now,
    endsAt: new Date(now.getTime() + HOUR),
  });
  if (!isCreated) throw new Error('the person is disabled');
  return `signalbox_session_${await app.application.get(Installation).tag()}=${id}`;
}

interface PersonRequest {
  readonly body?: object;
}

/** A request of the console's pages. `path` begins behind the version prefix. */
export async function askAs(
  { cookie }: Pick<TestPerson, 'cookie'>,
  app: TestApp,
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  { body }: PersonRequest = {},
): Promise<Response> {
  const request = app.http[method](`/api/v1${path}`).set({ ...CHANGE, cookie });
  return body === undefined ? request : request.send(body);
}
