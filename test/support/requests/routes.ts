// Every operation of openapi.json with who may ask and what of an account it names: for the suites that walk all of them.
// A new operation without a row here fails test/security.
import type { TestAccount, TestApp } from '../app/app.js';
import { askFor } from './admin.js';
import { recordGenerations } from '../deliveries/deliveries.js';
import { WEBHOOK } from './create-destination.js';
import { createPersonId } from '../../../src/domain/people/person.js';
import { contentOfText } from '../generations/generation.js';

export interface Route {
  readonly access: 'management' | 'inference' | 'any' | 'public';
  /** Behind the version prefix; `{name}` stands for an object of the owner. */
  readonly path: string;
  /** A good body, where the operation takes one. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The body is a form. */
  readonly isForm?: true;
  /** The status for another account; 200: a response without data of the owner. */
  readonly stranger: 200 | 201 | 400 | 403 | 404;
}

const DESTINATION = '/observability/destinations/{destination}';
const NOTIFICATION = '/notifications/{notification}';
const IMPORT = '/catalogue/imports/{import}';
const ALERTS = { name: 'Alerts', config: { url: 'https://example.com/alerts' } };
const PRESET = (wire: string) => `/presets/owned/${wire}?workspace_id={workspace}`;
const PRESET_BODY = { model: 'local/echo', messages: [{ role: 'user', content: 'words' }] };
const GUARDRAIL = '/guardrails/{guardrail}';
const ASSIGNED_KEYS = { key_hashes: ['{hash}'] };
const ASSIGNED_MEMBERS = { member_user_ids: ['user_1'] };
const PERSON = '/organization/members/{person}';
const MAPPING = { issuer: 'https://id.example.com', group: 'search-team', role: 'admin' };
const POLICY = '/federation-policies/{policy}';
const FEDERATION = {
  name: 'Deployments',
  issuer: 'https://issuer.example.com',
  audience: 'https://signalbox.example.com',
  subject: 'repo:acme/shop:ref:refs/heads/main',
  jwks_url: 'https://issuer.example.com/jwks',
};
const ADD_PERSON = `INSERT INTO persons (account_id, id, issuer, subject, email, created_at, last_sign_in_at)
  VALUES ($1, $2, 'https://id.example.com', $2, 'ann@example.com', $3, $3)`;
const USERS = { user_ids: ['user_1'] };
const BUDGET = '/workspaces/{workspace}/budgets/daily';

const management = (path: string, stranger: Route['stranger'], body?: Route['body']): Route => ({
  access: 'management',
  path,
  stranger,
  ...(body ? { body } : {}),
});
const open = (path: string, stranger: Route['stranger'] = 200): Route => ({
  access: 'public',
  path,
  stranger,
});

export const ROUTES: Readonly<Record<string, Route>> = {
  'GET /observability/destinations': management('/observability/destinations?workspace_id={workspace}', 400),
  'POST /observability/destinations': management('/observability/destinations', 400, {
    ...WEBHOOK,
    workspace_id: '{workspace}',
  }),
  'GET /observability/destinations/{id}': management(DESTINATION, 404),
  'PATCH /observability/destinations/{id}': management(DESTINATION, 404, { name: 'Taken' }),
  'DELETE /observability/destinations/{id}': management(DESTINATION, 404),
  'POST /observability/destinations/{id}/test': management(`${DESTINATION}/test`, 404),
  'GET /observability/destinations/{id}/deliveries': management(`${DESTINATION}/deliveries`, 404),
  'GET /observability/destinations/{id}/signing-secret': management(`${DESTINATION}/signing-secret`, 404),
  'GET /observability/destinations/{id}/dead-letters': management(`${DESTINATION}/dead-letters`, 404),
  'POST /observability/destinations/{id}/replay': management(`${DESTINATION}/replay`, 404, {
    dead_letters: 'all',
  }),
  'GET /observability/deliveries': management('/observability/deliveries?workspace_id={workspace}', 400),
  'POST /observability/destinations/test': management('/observability/destinations/test', 404, {
    type: WEBHOOK.type,
    config: WEBHOOK.config,
    destination_id: '{destination}',
  }),
  'POST /observability/destinations/preview': management('/observability/destinations/preview', 404, {
    destination_id: '{destination}',
  }),
  'GET /keys': management('/keys?workspace_id={workspace}', 400),
  'POST /keys': management('/keys', 400, { name: 'New', workspace_id: '{workspace}' }),
  'GET /keys/{hash}': management('/keys/{hash}', 404),
  'PATCH /keys/{hash}': management('/keys/{hash}', 404, { disabled: true }),
  'DELETE /keys/{hash}': management('/keys/{hash}', 404),
  'POST /keys/{hash}/rotate': management('/keys/{hash}/rotate', 404, { grace_period_seconds: 0 }),
  'GET /key': { access: 'any', path: '/key', stranger: 200 },
  'GET /key/usage': { access: 'any', path: '/key/usage', stranger: 200 },
  'GET /auth/key': { access: 'any', path: '/auth/key', stranger: 200 },
  'POST /auth/keys/code': management('/auth/keys/code', 200, {
    callback_url: 'http://localhost:8976/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }),
  'POST /auth/keys': {
    access: 'public',
    path: '/auth/keys',
    body: { code: '{code}', code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' },
    stranger: 403,
  },
  'POST /embeddings': {
    access: 'inference',
    path: '/embeddings',
    body: { model: 'local/hashing', input: 'words', dimensions: 8 },
    stranger: 200,
  },
  'POST /chat/completions': {
    access: 'inference',
    path: '/chat/completions',
    body: { model: 'local/echo', messages: [{ role: 'user', content: 'words' }] },
    stranger: 200,
  },
  'POST /messages': {
    access: 'inference',
    path: '/messages',
    body: { model: 'local/echo', max_tokens: 100, messages: [{ role: 'user', content: 'words' }] },
    stranger: 200,
  },
  'POST /messages/count_tokens': {
    access: 'inference',
    path: '/messages/count_tokens',
    body: { model: 'local/echo', messages: [{ role: 'user', content: 'words' }] },
    stranger: 200,
  },
  'POST /responses': {
    access: 'inference',
    path: '/responses',
    body: { model: 'local/echo', input: 'words' },
    stranger: 200,
  },
  'POST /rerank': {
    access: 'inference',
    path: '/rerank',
    body: { model: 'cohere/rerank-v3.5', query: 'words', documents: ['words'] },
    stranger: 404,
  },
  'GET /embeddings/models': open('/embeddings/models'),
  'GET /models': open('/models'),
  'GET /models/count': open('/models/count'),
  'GET /models/user': { access: 'any', path: '/models/user', stranger: 200 },
  'GET /model/{author}/{slug}': open('/model/local/hashing'),
  'GET /models/{author}/{slug}': open('/models/local/hashing'),
  'GET /models/{name}': open('/models/local%2Fhashing'),
  'GET /providers': open('/providers'),
  'GET /models/{author}/{slug}/endpoints': {
    access: 'any',
    path: '/models/local/hashing/endpoints',
    stranger: 200,
  },
  'GET /catalogue/models': management('/catalogue/models?q=hashing', 200),
  'GET /catalogue/models/{author}/{slug}': management('/catalogue/models/local/hashing', 200),
  'PUT /catalogue/models/{author}/{slug}': management('/catalogue/models/acme/chat-1', 403, {
    model: { disabled: true },
  }),
  'DELETE /catalogue/models/{author}/{slug}': management('/catalogue/models/acme/chat-1', 403),
  'GET /catalogue/expiring': management('/catalogue/expiring', 200),
  'GET /catalogue/changes': management('/catalogue/changes', 200),
  'POST /catalogue/changes/{version}/revert': management('/catalogue/changes/2/revert', 403, { reason: 'x' }),
  'POST /catalogue/imports': management('/catalogue/imports', 403, { lists: ['x'], proposals: [] }),
  'GET /catalogue/imports': management('/catalogue/imports', 403),
  'GET /catalogue/imports/{id}': management(IMPORT, 403),
  'POST /catalogue/imports/{id}/apply': management(`${IMPORT}/apply`, 403, { entries: [{ number: 0 }] }),
  'DELETE /catalogue/imports/{id}': management(IMPORT, 403),
  'GET /endpoints': management('/endpoints?provider=local', 200),
  'GET /providers/health': management('/providers/health', 200),
  'POST /providers/{slug}/test': management('/providers/openai/test', 404, {
    byok_id: '{credential}',
  }),
  'GET /providers/{slug}/models': management('/providers/openai/models', 200),
  'POST /providers/{slug}/models': management('/providers/openai/models', 403),
  'GET /generation': { access: 'any', path: '/generation?id={generation}', stranger: 404 },
  'GET /generation/content': { access: 'any', path: '/generation/content?id={generation}', stranger: 404 },
  'GET /generations': management('/generations?workspace_id={workspace}', 400),
  'GET /generations/{id}/deliveries': management('/generations/{generation}/deliveries', 404),
  'GET /audit': management('/audit?object_id={destination}', 200),
  'GET /workspaces': management('/workspaces', 200),
  'POST /workspaces': management('/workspaces', 201, { name: 'New', slug: 'new' }),
  'GET /workspaces/{id}': management('/workspaces/{workspace}', 404),
  'PATCH /workspaces/{id}': management('/workspaces/{workspace}', 404, { name: 'Taken' }),
  'DELETE /workspaces/{id}': management('/workspaces/{workspace}', 404),
  'GET /workspaces/{id}/members': management('/workspaces/{workspace}/members', 404),
  'POST /workspaces/{id}/members/add': management('/workspaces/{workspace}/members/add', 404, USERS),
  'POST /workspaces/{id}/members/remove': management('/workspaces/{workspace}/members/remove', 404, USERS),
  'GET /workspaces/{id}/own-key-policy': management('/workspaces/{workspace}/own-key-policy', 404),
  'PUT /workspaces/{id}/own-key-policy': management('/workspaces/{workspace}/own-key-policy', 404, {
    enabled: true,
  }),
  'GET /workspaces/{workspace_ref}/budgets': management('/workspaces/{workspace}/budgets', 404),
  'GET /workspaces/{workspace_ref}/budgets/{interval}': management(BUDGET, 404),
  'PUT /workspaces/{workspace_ref}/budgets/{interval}': management(BUDGET, 404, { limit_usd: 9 }),
  'DELETE /workspaces/{workspace_ref}/budgets/{interval}': management(BUDGET, 404),
  'GET /byok': management('/byok?workspace_id={workspace}', 400),
  'POST /byok': management('/byok', 400, {
    provider: 'openai',
    key: 'a-key-of-a-customer',
    workspace_id: '{workspace}',
  }),
  'GET /byok/{id}': management('/byok/{credential}', 404),
  'PATCH /byok/{id}': management('/byok/{credential}', 404, { disabled: true }),
  'DELETE /byok/{id}': management('/byok/{credential}', 404),
  'GET /notifications': management('/notifications?workspace_id={workspace}', 400),
  'POST /notifications': management('/notifications', 400, { ...ALERTS, workspace_id: '{workspace}' }),
  'GET /notifications/{id}': management(NOTIFICATION, 404),
  'PATCH /notifications/{id}': management(NOTIFICATION, 404, { name: 'Taken' }),
  'DELETE /notifications/{id}': management(NOTIFICATION, 404),
  'GET /notifications/{id}/events': management(`${NOTIFICATION}/events`, 404),
  'POST /notifications/{id}/test': management(`${NOTIFICATION}/test`, 404),
  'GET /notifications/{id}/signing-secret': management(`${NOTIFICATION}/signing-secret`, 404),
  'POST /notifications/{id}/replay': management(`${NOTIFICATION}/replay`, 404),
  'GET /presets': management('/presets?workspace_id={workspace}', 400),
  'GET /presets/{slug}': management('/presets/owned', 404),
  'GET /presets/{slug}/versions': management('/presets/owned/versions', 404),
  'GET /presets/{slug}/versions/{version}': management('/presets/owned/versions/1', 404),
  'POST /presets/{slug}/chat/completions': management(PRESET('chat/completions'), 400, PRESET_BODY),
  'POST /presets/{slug}/messages': management(PRESET('messages'), 400, PRESET_BODY),
  'POST /presets/{slug}/responses': management(PRESET('responses'), 400, { model: 'local/echo' }),
  'PATCH /presets/{slug}': management('/presets/owned', 404, { status: 'active' }),
  'DELETE /presets/{slug}': management('/presets/owned', 404),
  'GET /guardrails': management('/guardrails?workspace_id={workspace}', 400),
  'POST /guardrails': management('/guardrails', 400, { name: 'New', workspace_id: '{workspace}' }),
  'GET /guardrails/usage': management('/guardrails/usage?workspace_id={workspace}', 400),
  'POST /guardrails/test': management('/guardrails/test', 200, { text: 'ann@example.com' }),
  'GET /guardrails/{id}': management(GUARDRAIL, 404),
  'PATCH /guardrails/{id}': management(GUARDRAIL, 404, { name: 'Taken' }),
  'DELETE /guardrails/{id}': management(GUARDRAIL, 404),
  'GET /guardrails/assignments/keys': management('/guardrails/assignments/keys', 200),
  'GET /guardrails/assignments/members': management('/guardrails/assignments/members', 200),
  'GET /guardrails/{id}/assignments/keys': management(`${GUARDRAIL}/assignments/keys`, 404),
  'GET /guardrails/{id}/assignments/members': management(`${GUARDRAIL}/assignments/members`, 404),
  'POST /guardrails/{id}/assignments/keys': management(`${GUARDRAIL}/assignments/keys`, 404, ASSIGNED_KEYS),
  'POST /guardrails/{id}/assignments/keys/remove': management(
    `${GUARDRAIL}/assignments/keys/remove`,
    404,
    ASSIGNED_KEYS,
  ),
  'POST /guardrails/{id}/assignments/members': management(
    `${GUARDRAIL}/assignments/members`,
    404,
    ASSIGNED_MEMBERS,
  ),
  'POST /guardrails/{id}/assignments/members/remove': management(
    `${GUARDRAIL}/assignments/members/remove`,
    404,
    ASSIGNED_MEMBERS,
  ),
  'GET /organization/members': management('/organization/members', 200),
  'GET /organization/members/me': management('/organization/members/me', 200),
  'PATCH /organization/members/{id}': management(PERSON, 404, { account_role: 'viewer' }),
  'GET /group-mappings': management('/group-mappings', 200),
  'POST /group-mappings': management('/group-mappings', 400, { ...MAPPING, workspace_id: '{workspace}' }),
  'DELETE /group-mappings/{id}': management('/group-mappings/{mapping}', 404),
  'GET /sign-in/providers': management('/sign-in/providers', 200),
  'GET /federation-policies': management('/federation-policies', 200),
  'POST /federation-policies': management('/federation-policies', 400, {
    ...FEDERATION,
    api_key_hash: '{hash}',
  }),
  'GET /federation-policies/{id}': management(POLICY, 404),
  'PATCH /federation-policies/{id}': management(POLICY, 404, { name: 'Taken' }),
  'DELETE /federation-policies/{id}': management(POLICY, 404),
  'POST /oauth/token': { access: 'public', path: '/oauth/token', isForm: true, stranger: 400 },
  'GET /refusals': management('/refusals?workspace_id={workspace}', 400),
  'GET /search': management('/search?q={generation}', 200),
  'GET /system': management('/system', 200),
  'GET /credits': management('/credits', 200),
  'GET /activity': management('/activity?workspace_id={workspace}', 404),
  'GET /analytics/meta': management('/analytics/meta', 200),
  'POST /analytics/query': management('/analytics/query', 200, { metrics: ['request_count'] }),
};

export interface NamedRoute extends Route {
  /** `GET /keys/{hash}`. */
  readonly name: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
}

export const NAMED_ROUTES: readonly NamedRoute[] = Object.entries(ROUTES).map(([name, route]) =>
  Object.assign({}, route, { name, method: name.split(' ')[0]?.toLowerCase() as NamedRoute['method'] }),
);

/** Fills in the owner's objects. */
export type Fill = <Value extends string | object>(value: Value) => Value;

interface Created {
  readonly data: { readonly id: string };
}

/** One object of each kind in the owner's account, and a function that puts their names where a route has holes. */
export async function createObjects(
  app: TestApp,
  owner: TestAccount,
): Promise<{ fill: Fill; names: string[] }> {
  const make = (path: string, body: object) =>
    askFor<Created>(201, app, 'post', path, { body, key: owner.managementKey });
  const { data: workspace } = await make('/workspaces', { name: 'Owned', slug: 'owned' });
  const own = { key: owner.managementKey };
  await askFor(200, app, 'put', `/workspaces/${workspace.id}/budgets/daily`, {
    ...own,
    body: { limit_usd: 1 },
  });
  for (const id of [workspace.id, owner.workspaceId])
    await askFor(200, app, 'post', `/workspaces/${id}/members/add`, { ...own, body: USERS });
  await askFor(200, app, 'post', '/presets/owned/chat/completions', { ...own, body: PRESET_BODY });
  const { data: destination } = await make('/observability/destinations', WEBHOOK);
  const { data: notification } = await make('/notifications', ALERTS);
  const { data: guardrail } = await make('/guardrails', { name: 'Owned' });
  const { data: policy } = await make('/federation-policies', {
    ...FEDERATION,
    api_key_hash: owner.key.hash,
  });
  const { data: mapping } = await make('/group-mappings', { ...MAPPING, workspace_id: owner.workspaceId });
  const person = createPersonId();
  await app.sql(ADD_PERSON, [owner.accountId, person, app.clock.now()]);
  const { data: credential } = await make('/byok', { provider: 'openai', key: 'the-key-of-the-owner' });
  const content = contentOfText('words of the owner');
  const [generation = ''] = await recordGenerations(app, 1, { createdAt: app.clock.now() }, content);
  const objects = new Map<string, string>([
    ['workspace', workspace.id],
    ['destination', destination.id],
    ['notification', notification.id],
    ['guardrail', guardrail.id],
    ['policy', policy.id],
    ['mapping', mapping.id],
    ['person', person],
    ['credential', credential.id],
    ['hash', owner.key.hash],
    ['generation', generation],
  ]);
  return { fill: fillWith(objects), names: [...objects.values(), owner.accountId, owner.workspaceId] };
}

/** Looks again at each use: objects may be added. */
export function fillWith(objects: ReadonlyMap<string, string>): Fill {
  const fillText = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (hole, name: string) => objects.get(name) ?? hole);
  return <Value extends string | object>(value: Value): Value =>
    (typeof value === 'string' ? fillText(value) : JSON.parse(fillText(JSON.stringify(value)))) as Value;
}
