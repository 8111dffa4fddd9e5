// Every operation: another account's objects, other keys' calls, the wrong kind of key, no key, members that no caller
// may set, and names that every object has.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Application } from 'express';
import { ask, askFor } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import type { TestAccount, TestApp } from '../support/app/app.js';
import { expectError } from '../support/requests/error-shape.js';
import { createObjects, NAMED_ROUTES, ROUTES } from '../support/requests/routes.js';
import type { Fill } from '../support/requests/routes.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}
interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly requestBody?: { content: { 'application/json': { schema: Schema } } } }>
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
const document = JSON.parse(
  readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;
const PREFIX = '/api/v1';
// Absent from the document: for the operator's own machines, and for the console alone.
const NOT_OF_THE_CONTRACT = [
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'POST /console/session',
  'GET /console/session',
  'DELETE /console/session',
  'GET /console/sign-in',
  'GET /console/sign-in/:id',
  'GET /console/sign-in/:id/callback',
  'POST /console/playground/embeddings',
  'POST /console/playground/chat/completions',
  'POST /console/playground/messages',
  'POST /console/playground/responses',
  'POST /console/playground/rerank',
];

let app: TestApp;
let stranger: TestAccount;
let fill: Fill;
let names: string[];
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
  stranger = await app.createAccount();
  ({ fill, names } = await createObjects(app, app));
});
afterAll(() => app.close());

const OWNED =
  'api_keys destinations provider_credentials workspaces workspace_members workspace_budgets notification_rules federation_policies group_mappings persons'.split(
    ' ',
  );
/** All objects of the owner in the database, usage included. */
const ownersRows = async (): Promise<unknown[]> =>
  Promise.all(
    [...OWNED, 'accounts', 'audit_log'].map((table) =>
      app.sql(
        `SELECT to_jsonb(t)::text AS row FROM ${table} t
         WHERE to_jsonb(t)::text LIKE '%' || $1 || '%' OR to_jsonb(t)::text LIKE '%' || $2 || '%' ORDER BY 1`,
        [app.accountId, names[0]],
      ),
    ),
  );

describe('the table of this suite', () => {
  it('has a row for every operation, and no other', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(PREFIX.length)}`),
    );
    expect(Object.keys(ROUTES).toSorted()).toEqual(operations.toSorted());
  });

  it('contains every route of the router', () => {
    interface Layer {
      readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    }
    const { router } = app.application.getHttpAdapter().getInstance() as Application;
    const { stack } = router as unknown as { stack: readonly Layer[] };
    const routes = stack.flatMap(({ route }) =>
      route && !/^\/(?:docs|api\/v1\/openapi)/.test(route.path)
        ? Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${route.path}`)
        : [],
    );
    const known = Object.keys(ROUTES).map((name) =>
      name.replace(' ', ` ${PREFIX}`).replaceAll(/\{(\w+)\}/g, ':$1'),
    );
    const isOurs = (route: string): boolean => /^(?:GET|POST|PUT|PATCH|DELETE) /.test(route);
    expect([...new Set(routes.filter(isOurs))].toSorted()).toEqual(
      [...known, ...NOT_OF_THE_CONTRACT].toSorted(),
    );
  });
});

describe("another account's objects", () => {
  it.each(NAMED_ROUTES)('are neither shown nor changed: $name', async (route) => {
    const before = await ownersRows();
    const key = route.access === 'inference' ? stranger.apiKey : stranger.managementKey;
    const response = await ask(app, route.method, fill(route.path), {
      key,
      ...(route.body ? { body: fill(route.body) } : {}),
    });
    expect(response.status).toBe(route.stranger);
    if (response.status >= 400) expectError(response, route.stranger);
    // The names that the stranger sent do not reappear, and neither does any other data of the owner.
    for (const name of names) expect(response.text).not.toContain(name);
    expect(await ownersRows()).toEqual(before);
  });
});

describe('the calls of other keys of the account', () => {
  const UNKNOWN = '019a960b-d800-7000-8000-000000000000';
  const readers = NAMED_ROUTES.filter(({ access }) => access === 'any');
  const otherKeys = async (): Promise<readonly string[]> => {
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Other', slug: `other-${Date.now()}` },
    });
    const sibling = await app.createKey();
    const ofOtherWorkspace = await app.createKey({ workspaceId: data.id });
    return [sibling.secret, ofOtherWorkspace.secret];
  };

  it('are read by a management key', async () => {
    for (const { method, path } of readers) await askFor(200, app, method, fill(path));
  });

  it.each(readers)('are not shown to an inference key: $name', async ({ method, path }) => {
    for (const key of await otherKeys()) {
      const response = await ask(app, method, fill(path), { key });
      // Its own key record and the catalogue, without data of the owner's key.
      const isOfOneCall = path.includes('{generation}');
      expect(response.status).toBe(isOfOneCall ? 404 : 200);
      expect(response.text).not.toContain(fill('{generation}'));
      if (!isOfOneCall) continue;
      const unknown = await ask(app, method, path.replace('{generation}', UNKNOWN), { key });
      expect(response.body).toEqual(unknown.body);
    }
  });

  it.each(readers)('are shown to the inference key that made them: $name', async ({ method, path }) => {
    await askFor(200, app, method, fill(path), { key: app.apiKey });
  });
});

describe('a credential', () => {
  it.each(NAMED_ROUTES.filter(({ access }) => access !== 'public'))('is needed: $name', async (route) => {
    const body = route.body ? fill(route.body) : undefined;
    const send = () => {
      const request = app.http[route.method](PREFIX + fill(route.path));
      return body === undefined ? request : request.send(body);
    };
    expectError(await send(), 401, 'Missing Authentication header');
    expectError(await send().set('authorization', 'Bearer unknown'), 401, 'Invalid credentials');
  });

  it.each(NAMED_ROUTES.filter(({ access }) => access === 'management' || access === 'inference'))(
    'of the wrong kind is rejected: $name',
    async (route) => {
      const before = await ownersRows();
      const response = await ask(app, route.method, fill(route.path), {
        key: route.access === 'inference' ? app.managementKey : app.apiKey,
        ...(route.body ? { body: fill(route.body) } : {}),
      });
      expect([401, 403]).toContain(response.status);
      expectError(response, response.status, /management key/i);
      expect(await ownersRows()).toEqual(before);
    },
  );
});

// Members that only the service sets, in the spellings of the wire and of the code.
const PRIVILEGED = [
  'account_id',
  'accountId',
  'is_management_key',
  'kind',
  'hash',
  'secret',
  'usage',
  'usage_daily',
  'byok_usage',
  'created_at',
  'deleted_at',
  'slot',
  'generation_id',
];
// Ignored where the record of the operation has them (test/e2e/http/sent-back-records), rejected elsewhere.
const READ_ONLY = new Set(['is_management_key', 'hash', 'usage', 'usage_daily', 'byok_usage', 'created_at']);
// Model calls forward unknown members to the provider, which may know them.
const WITH_OPEN_BODIES = [
  'POST /embeddings',
  'POST /chat/completions',
  'POST /messages',
  'POST /responses',
  'POST /messages/count_tokens',
  'POST /rerank',
];
/** Versions of presets keep the members that they know of the body of a call. */
const keepsKnownMembers = (name: string): boolean => name.startsWith('POST /presets/');
const WITH_CLOSED_BODIES = NAMED_ROUTES.filter(
  ({ body, name }) => body && !WITH_OPEN_BODIES.includes(name) && !keepsKnownMembers(name),
);

function documentedMembers(name: string): readonly string[] {
  const [method = '', path = ''] = name.split(' ');
  const schema =
    document.paths[PREFIX + path]?.[method.toLowerCase()]?.requestBody?.content['application/json'].schema;
  const resolved = schema?.$ref ? document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;
  return Object.keys(resolved?.properties ?? {});
}

describe('a member that no caller may set', () => {
  it.each(WITH_CLOSED_BODIES)('is rejected by name without an effect: $name', async (route) => {
    const before = await ownersRows();
    const documented = documentedMembers(route.name);
    expect(documented).not.toEqual([]);
    for (const member of PRIVILEGED.filter((one) => !documented.includes(one))) {
      const sent = { account_id: stranger.accountId, [member]: stranger.accountId };
      const body = { ...fill(route.body ?? {}), ...sent };
      const problem = expectError(await ask(app, route.method, fill(route.path), { body }), 400);
      expect(problem).toContain('account_id: is not a member of this object');
      if (!READ_ONLY.has(member)) expect(problem).toContain(`${member}: is not a member of this object`);
    }
    expect(await ownersRows()).toEqual(before);
  });

  it.each(WITH_OPEN_BODIES)('changes nothing of a recorded call: %s', async (name) => {
    const privileged = Object.fromEntries(PRIVILEGED.map((member) => [member, stranger.accountId]));
    const body = { ...ROUTES[name]?.body, ...privileged, workspace_id: stranger.workspaceId };
    const response = await ask(app, 'post', ROUTES[name]?.path ?? '', { body, key: app.apiKey });
    // Rerank has no provider here.
    expect([200, 400, ROUTES[name]?.stranger]).toContain(response.status);
    expect(
      await app.sql('SELECT 1 FROM generations WHERE account_id = $1 AND workspace_id = $2', [
        stranger.accountId,
        names[0],
      ]),
    ).toEqual([]);
    const ofStranger = await app.sql<{ count: string }>(
      'SELECT count(*) FROM generations WHERE workspace_id = $1 AND api_key_id = $2',
      [stranger.workspaceId, app.key.id],
    );
    expect(ofStranger[0]?.count).toBe('0');
  });
});

describe('a name that every object has', () => {
  it.each(NAMED_ROUTES.filter(({ body }) => body))('does not affect any other: $name', async (route) => {
    const body = JSON.stringify(fill(route.body ?? {}));
    const credential = route.access === 'inference' ? app.apiKey : app.managementKey;
    for (const hostile of [
      '"__proto__":{"polluted":true}',
      '"constructor":{"prototype":{"polluted":true}}',
      '"toString":{"polluted":true}',
    ]) {
      const response = await app.http[route.method](PREFIX + fill(route.path))
        .set('authorization', `Bearer ${credential}`)
        .set('content-type', 'application/json')
        .send(`${body.slice(0, -1)},${hostile}}`);
      // Unknown members of POST /embeddings belong to the provider.
      if (route.access === 'inference' || keepsKnownMembers(route.name))
        expect([200, 400, route.stranger]).toContain(response.status);
      else expectError(response, 400, /is not a name that a member may have/);
      // The app runs in this very process.
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });
});
