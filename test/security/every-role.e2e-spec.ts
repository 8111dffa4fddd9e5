// Every operation × each role, from the one table of rights: allowed, or 403 without an effect. The table of docs/contract.md.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Application } from 'express';
import type { Response } from 'supertest';
import { grantOf, RIGHTS, ROLE_COLUMNS } from '../../src/domain/people/rights.js';
import type { Right, RoleColumn } from '../../src/domain/people/rights.js';
import { createTestApp } from '../support/app/app.js';
import type { TestAccount, TestApp } from '../support/app/app.js';
import { CHANGE } from '../support/app/console.js';
import { createPerson } from '../support/app/people.js';
import type { TestPerson } from '../support/app/people.js';
import { ask } from '../support/requests/admin.js';
import { expectError } from '../support/requests/error-shape.js';
import { createObjects, NAMED_ROUTES } from '../support/requests/routes.js';
import type { Fill, NamedRoute } from '../support/requests/routes.js';

const PREFIX = '/api/v1';
const REFUSED = /^Your role does not allow this operation/;

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly 'x-right'?: Right; readonly security: readonly object[]; readonly responses: object }
        >
      >
    >
  >;
}
const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as Document;
const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');

/** Null: the operation is for keys. */
function rightOf({ name }: Pick<NamedRoute, 'name'>): Right | null {
  const [method = '', path = ''] = name.split(' ');
  return document.paths[PREFIX + path]?.[method.toLowerCase()]?.['x-right'] ?? null;
}

/** The operations that no person may send: calls, and the record of the key that asks. */
const FOR_KEYS = [
  'GET /auth/key',
  'GET /key',
  'GET /key/usage',
  'POST /chat/completions',
  'POST /embeddings',
  'POST /messages',
  'POST /messages/count_tokens',
  'POST /rerank',
  'POST /responses',
];

let app: TestApp;
let owner: TestAccount;
let fill: Fill;
let objects: string[];
let people: Readonly<Record<RoleColumn, TestPerson>>;
let withoutRole: TestPerson;
let ofOtherWorkspace: TestPerson;
let stranger: TestPerson;
beforeAll(async () => {
  app = await createTestApp({
    environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0', RATE_LIMIT_CHANGES_PER_MINUTE: '0' },
  });
  owner = app;
  ({ fill, names: objects } = await createObjects(app, owner));
  const everywhere = (role: 'admin' | 'viewer' | 'member') => ({
    [owner.workspaceId]: role,
    [fill('{workspace}')]: role,
  });
  people = {
    viewer: await createPerson(app, { account: 'viewer' }),
    developer: await createPerson(app, { account: 'developer' }),
    workspace_admin: await createPerson(app, { workspaces: everywhere('admin') }),
    admin: await createPerson(app, { account: 'admin' }),
    owner: await createPerson(app, { account: 'owner' }),
  };
  withoutRole = await createPerson(app, {});
  const { body } = await ask(app, 'post', '/workspaces', { body: { name: 'Other', slug: 'other' } });
  ofOtherWorkspace = await createPerson(app, {
    workspaces: { [(body as { data: { id: string } }).data.id]: 'admin' },
  });
  stranger = await createPerson(app, { account: 'owner' }, await app.createAccount());
});
afterAll(() => app.close());

function send({ cookie }: TestPerson, { method, path, body }: NamedRoute): Promise<Response> {
  const request = app.http[method](PREFIX + fill(path)).set({ ...CHANGE, cookie });
  return Promise.resolve(body === undefined ? request : request.send(fill(body)));
}

const TABLES = (
  'api_keys api_key_secrets destinations provider_credentials workspaces workspace_members workspace_budgets ' +
  'notification_rules guardrails guardrail_assignments presets preset_versions persons own_key_policies ' +
  'catalogue_revisions audit_log'
).split(' ');
const rows = async (): Promise<unknown[]> =>
  Promise.all(TABLES.map((table) => app.sql(`SELECT to_jsonb(t)::text AS row FROM ${table} t ORDER BY 1`)));

const isChange = ({ method }: NamedRoute): boolean => method !== 'get';
/** Answers 403 because of the role; an operation of the catalogue may need an account of the operator beside it. */
const isRefused = ({ status, body }: Response): boolean =>
  status === 403 && REFUSED.test((body as { error: { message: string } }).error.message);

describe('the rights of operations', () => {
  it('are stated by every operation but public ones and those for keys', () => {
    const without = NAMED_ROUTES.filter((route) => route.access !== 'public' && rightOf(route) === null);
    expect(without.map(({ name }) => name).toSorted()).toEqual(FOR_KEYS);
  });

  it('are rows of the table', () => {
    for (const route of NAMED_ROUTES) {
      const right = rightOf(route);
      if (right !== null) expect(Object.keys(RIGHTS)).toContain(right);
    }
  });

  it('are declared with 403, as is every operation that needs a credential', () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { security, responses }] of Object.entries(methods)) {
        const declared = Object.hasOwn(responses, '403');
        if (security.length > 0) expect([method, path, declared]).toEqual([method, path, true]);
      }
  });
});

describe('a session of a person without a role', () => {
  it.each(NAMED_ROUTES.filter(({ access }) => access !== 'public'))('is refused: $name', async (route) => {
    const before = isChange(route) ? await rows() : [];
    const response = await send(withoutRole, route);
    // Where a call is charged, no cookie counts.
    if (route.access === 'inference') expectError(response, 401);
    else expectError(response, 403, REFUSED);
    if (isChange(route)) expect(await rows()).toEqual(before);
  });
});

describe('an operation without a right', () => {
  const forKeys = NAMED_ROUTES.filter(({ name }) => FOR_KEYS.includes(name));
  it.each(forKeys)('is refused to an owner: $name', async (route) => {
    const response = await send(people.owner, route);
    if (route.access === 'inference') expectError(response, 401);
    else expectError(response, 403, REFUSED);
  });
});

const WITH_RIGHT = NAMED_ROUTES.filter((route) => rightOf(route) !== null);

describe.each(ROLE_COLUMNS)('the role %s', (column) => {
  const isAllowed = (route: NamedRoute): boolean => {
    const right = rightOf(route);
    return right !== null && grantOf(right, column) !== null;
  };

  const denied = WITH_RIGHT.filter((route) => !isAllowed(route));
  if (denied.length > 0)
    it.each(denied)('is refused without an effect (V59): $name', async (route) => {
      const before = isChange(route) ? await rows() : [];
      expectError(await send(people[column], route), 403, REFUSED);
      if (isChange(route)) expect(await rows()).toEqual(before);
    });

  it.each(WITH_RIGHT.filter((route) => isAllowed(route) && !isChange(route)))(
    'is allowed, as far as it reaches: $name',
    async (route) => {
      const right = rightOf(route);
      const response = await send(people[column], route);
      expect(isRefused(response)).toBe(false);
      expect(response.status).not.toBe(401);
      if (right !== null && grantOf(right, column) === 'all')
        expect([200, 403, 404]).toContain(response.status);
      // Objects of others and of none are one.
      if (right !== null && grantOf(right, column) === 'own') expect([200, 404]).toContain(response.status);
    },
  );
});

describe('a person of another workspace (T14)', () => {
  const named = WITH_RIGHT.filter(({ path, body }) => /\{\w+\}/.test(path + JSON.stringify(body ?? {})));
  it.each(named)('neither sees nor changes the objects of this one: $name', async (route) => {
    const before = isChange(route) ? await rows() : [];
    const response = await send(ofOtherWorkspace, route);
    for (const object of objects) expect(response.text).not.toContain(object);
    expect([200, 201, 400, 403, 404]).toContain(response.status);
    if (isChange(route)) expect(response.status >= 400 ? await rows() : before).toEqual(before);
  });
});

describe('an owner of another account (T14)', () => {
  it.each(WITH_RIGHT)('neither sees nor changes the objects of this one: $name', async (route) => {
    const before = await app.sql(
      'SELECT to_jsonb(t)::text AS row FROM api_keys t WHERE account_id = $1 ORDER BY 1',
      [owner.accountId],
    );
    const response = await send(stranger, route);
    expect(response.status).toBe(route.stranger);
    for (const object of objects) expect(response.text).not.toContain(object);
    expect(
      await app.sql('SELECT to_jsonb(t)::text AS row FROM api_keys t WHERE account_id = $1 ORDER BY 1', [
        owner.accountId,
      ]),
    ).toEqual(before);
  });
});

// Last: the changes remove the objects.
describe('changes', () => {
  const changes = WITH_RIGHT.filter(isChange);
  const allowed = ROLE_COLUMNS.flatMap((column) =>
    changes.flatMap((route) => {
      const right = rightOf(route);
      return right !== null && grantOf(right, column) !== null ? [{ column, route, name: route.name }] : [];
    }),
  );
  it.each(allowed)('are allowed to $column: $name', async ({ column, route }) => {
    const response = await send(people[column], route);
    expect(response.status).not.toBe(401);
    expect(isRefused(response)).toBe(false);
  });
});

describe('every route of the router', () => {
  it('outside of openapi.json is public, of the session, or the playground, which needs its right', async () => {
    interface Layer {
      readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    }
    const { router } = app.application.getHttpAdapter().getInstance() as Application;
    const { stack } = router as unknown as { stack: readonly Layer[] };
    const playground = stack.flatMap(({ route }) =>
      route?.path.startsWith('/console/playground') ? [route.path] : [],
    );
    expect(new Set(playground).size).toBe(5);
    for (const path of new Set(playground)) {
      for (const person of [people.viewer, withoutRole]) {
        const response = await app.http
          .post(path)
          .set({ ...CHANGE, cookie: person.cookie })
          .send({});
        expectError(response, 403, REFUSED);
      }
    }
  });
});

describe('the table of roles in docs/contract.md', () => {
  it('is the one that the guard reads', () => {
    const words = { all: 'all', own: 'own', account: 'of the account' };
    const printed = Object.keys(RIGHTS).map((right) => {
      const cells = ROLE_COLUMNS.map((column) => {
        const grant = grantOf(right as Right, column);
        return grant === null ? '–' : words[grant];
      });
      return `| \`${right}\` | ${cells.join(' | ')} |`;
    });
    // Columns are padded.
    const table = contract
      .split('\n')
      .map((line) => line.replaceAll(/ {2,}/g, ' '))
      .filter((line) => /^\| `[a-z_]+\.[a-z_]+` \|/.test(line));
    expect(table).toEqual(printed);
  });
});
