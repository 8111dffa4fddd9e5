// Keys that guardrails govern.
import type { NewApiKey } from '../../../src/persistence/keys/key-writes.js';
import type { TestApp, TestKey } from '../app/app.js';
import { eventually } from '../eventually.js';
import { askFor } from '../requests/admin.js';

type Members = Readonly<Record<string, unknown>>;

export interface GovernedKey extends TestKey {
  /** The id of its guardrail. */
  readonly guardrail: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Not assigned. */
export async function createGuardrail(app: TestApp, settings: Members): Promise<string> {
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
    body: { name: 'Careful', ...settings },
  });
  return data.id;
}

export const assignKeys = (app: TestApp, id: string, ...keys: readonly TestKey[]): Promise<object> =>
  askFor(200, app, 'post', `/guardrails/${id}/assignments/keys`, {
    body: { key_hashes: keys.map(({ record }) => record.hash) },
  });

/** Its guardrail is in force, and does not permit `local/echo` beside the settings. */
export async function createGovernedKey(
  app: TestApp,
  settings: Members,
  overrides: Partial<NewApiKey> = {},
): Promise<GovernedKey> {
  const key = await app.createKey(overrides);
  const guardrail = await createGuardrail(app, {
    workspace_id: key.record.workspaceId,
    ...settings,
    ignored_models: ['local/echo'],
  });
  await assignKeys(app, guardrail, key);
  await eventually(
    () =>
      postAs(app, key, 'chat/completions', {
        model: 'local/echo',
        messages: [{ role: 'user', content: 'hi' }],
      }),
    ({ status }) => status === 404,
  );
  return { ...key, guardrail };
}

/** A text body passes as it is. `path` begins behind the version prefix. */
export async function postAs(
  { baseUrl }: Pick<TestApp, 'baseUrl'>,
  { secret }: Pick<TestKey, 'secret'>,
  path: string,
  body: Members | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${baseUrl}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

export const errorOf = ({ text }: Answer): { readonly message: string; readonly metadata: Members } =>
  (JSON.parse(text) as { error: { message: string; metadata: Members } }).error;
