// Requests for every operation of openapi.json, as arbitraries: valid, corrupted, and hostile throughout.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import * as fc from '../fast-check.js';
import { FORM_TYPE } from '../../../src/http/body/form-body.js';
import { hostileText, hostileValue, SENT_WORD, corrupted } from './hostile-values.js';
import { valuesOf } from './schema-values.js';
import type { Hints, Schema } from './schema-values.js';

/** Stands for an object of the account that asks; what it is called is known only when the request is sent. */
const own = (what: string): string => `own:${what}`;

export interface FuzzRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly credential: 'management' | 'inference' | 'none' | 'nonsense';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FuzzBody | null;
}

export interface FuzzBody {
  readonly text: string;
  readonly encoding: 'none' | 'gzip' | 'br' | 'wrong' | 'latin1';
  /** Absent: it is sent as JSON. */
  readonly isForm?: boolean;
}

const MESSAGES_PATH = /\/messages(\/count_tokens)?$/;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface OpenApiOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

export interface FuzzOperation {
  /** `POST /api/v1/keys`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly requests: fc.Arbitrary<FuzzRequest>;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const MODELS = [
  'local/hashing',
  'local/hashing',
  'openai/text-embedding-3-small',
  'openai/text-embedding-3-small',
  'openai/text-embedding-ada-002',
  'unknown/nothing',
];
const CHAT_MODELS = [
  'local/echo',
  'openai/gpt-4.1-mini',
  'openai/gpt-4.1-mini',
  'openai/gpt-5',
  'unknown/nothing',
];
const TOOL = { type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } };
/** Hints for a chat's own members: the schema alone seldom makes a conversation that is accepted. */
const CHAT_HINTS: Hints = {
  model: fc.constantFrom(...CHAT_MODELS),
  models: fc.constantFrom(['openai/gpt-4.1-nano'], ['local/echo', 'openai/gpt-4.1-mini']),
  messages: fc.array(
    fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'system'), content: hostileText }),
      fc.record({ role: fc.constant('user'), content: fc.constant([{ type: 'text', text: 'hi' }]) }),
      fc.constantFrom(
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', ...TOOL, function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://169.254.169.254/' } }] },
      ),
    ),
    { minLength: 1, maxLength: 5 },
  ),
  stream: fc.boolean(),
  tools: fc.constantFrom([TOOL], [TOOL, TOOL], []),
  n: fc.constantFrom(1, 2, 8),
  max_tokens: fc.constantFrom(1, 16, 1_000_000_000),
  stop: fc.oneof(hostileText, fc.array(hostileText, { maxLength: 4 })),
};
const CALL_BLOCK = { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } };
const turn = (role: string, content: fc.Arbitrary<unknown>) =>
  fc.record({ role: fc.constant(role), content });
/** As those of a chat. */
const MESSAGES_HINTS: Hints = {
  model: fc.constantFrom(
    'local/echo',
    'anthropic/claude-haiku-4.5',
    'openai/gpt-4.1-mini',
    'unknown/nothing',
  ),
  models: fc.constantFrom(['local/echo'], ['anthropic/claude-haiku-4.5', 'openai/gpt-4.1-mini']),
  messages: fc.array(
    fc.oneof(
      turn('user', hostileText),
      turn('system', fc.constant([{ type: 'text', text: 'be brief' }])),
      turn(
        'assistant',
        fc.array(fc.record({ type: fc.constant('text'), text: hostileText }), { maxLength: 3 }),
      ),
      turn(
        'assistant',
        fc.tuple(
          fc.record({ type: fc.constant('thinking'), thinking: hostileText, signature: hostileText }),
          fc.constant(CALL_BLOCK),
        ),
      ),
      turn(
        'user',
        fc.tuple(
          fc.record({
            type: fc.constant('tool_result'),
            tool_use_id: fc.constant('a'),
            content: hostileText,
          }),
        ),
      ),
      fc.constantFrom(
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'url', url: 'http://169.254.169.254/' } }],
        },
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } }],
        },
        { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }] },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] },
        { role: 'user', content: [{ type: 'hologram' }] },
      ),
    ),
    { minLength: 1, maxLength: 5 },
  ),
  max_tokens: fc.constantFrom(0, 1, 16, 4_096, 1_000_000_000),
  stream: fc.boolean(),
  thinking: fc.constantFrom(
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 1_024 },
    { type: 'disabled' },
  ),
  tools: fc.constantFrom(
    [{ name: 'f', input_schema: { type: 'object' } }],
    [
      { name: 'f', input_schema: {} },
      { type: 'web_search_20260318', name: 'web_search' },
    ],
    [],
  ),
  tool_choice: fc.constantFrom({ type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'f' }),
};
const FLAT_TOOL = { type: 'function', name: 'look_up', parameters: { type: 'object' } };
/** The same for the Responses wire. */
const RESPONSES_HINTS: Hints = {
  model: fc.constantFrom(...CHAT_MODELS),
  models: fc.constantFrom(['openai/gpt-4.1-nano'], ['local/echo', 'openai/gpt-4.1-mini']),
  input: fc.oneof(
    hostileText,
    fc.array(
      fc.oneof(
        fc.record({ role: fc.constantFrom('user', 'system', 'assistant'), content: hostileText }),
        fc.constantFrom(
          { type: 'reasoning', summary: [], encrypted_content: 'sbx1.anthropic.x.signature.YQ' },
          { type: 'function_call', call_id: 'a', name: 'look_up', arguments: '{}' },
          { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '"' },
          { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: '1' }] },
          { type: 'custom_tool_call_output', call_id: 'b', output: '2' },
          { role: 'user', content: [{ type: 'input_image', image_url: 'http://169.254.169.254/' }] },
        ),
      ),
      { minLength: 1, maxLength: 5 },
    ),
  ),
  stream: fc.boolean(),
  tools: fc.constantFrom(
    [FLAT_TOOL],
    [{ type: 'custom', name: 'patch' }, { type: 'web_search' }],
    [{ type: 'namespace', name: 'n', tools: [FLAT_TOOL] }],
    [],
  ),
  max_output_tokens: fc.constantFrom(1, 16, 1_000_000_000),
};
const HINTS: Hints = {
  workspace_id: fc.constantFrom(own('workspace'), own('default-workspace')),
  api_key_hashes: fc.constantFrom([own('hash')], [own('hash'), own('hash')]),
  allowed_api_key_hashes: fc.constantFrom([own('hash')], []),
  url: fc.constant(own('hook')),
  endpoint: fc.constant(own('hook')),
  host: fc.constant(own('hook')),
  model: fc.constantFrom(...MODELS),
  dimensions: fc.constantFrom(1, 8, 64, 256, 1536),
};

/** The name of a parameter among the caller's objects; undefined where it is no object of an account. */
function ownObject(path: string, name: string): string | undefined {
  if (name === 'hash' || name === 'api_key_hash') return own('hash');
  if (name === 'workspace_ref' || name === 'workspace_id') return own('workspace');
  if (name === 'author') return 'openai';
  if (name === 'slug') return 'text-embedding-3-small';
  if (name !== 'id') return undefined;
  if (path.includes('/destinations/')) return own('destination');
  if (path.includes('/workspaces/')) return own('workspace');
  return own(path.includes('/byok/') ? 'byok' : 'generation');
}

export function readOperations(): FuzzOperation[] {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as OpenApiDocument;
  const resolve = (reference: string): Schema => {
    const schema = document.components.schemas[reference.replace('#/components/schemas/', '')];
    if (!schema) throw new Error(`openapi.json has no ${reference}`);
    return schema;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      requests: requestsOf(method.toUpperCase(), path, operation, resolve),
    })),
  );
}

function requestsOf(
  method: string,
  path: string,
  { parameters = [], requestBody }: OpenApiOperation,
  resolve: (reference: string) => Schema,
): fc.Arbitrary<FuzzRequest> {
  const valueOf = ({ name, schema = { type: 'string' } }: Parameter): fc.Arbitrary<string> => {
    const object = ownObject(path, name);
    const good = valuesOf(schema, resolve, {}).map(String);
    return fc.oneof(
      { weight: 6, arbitrary: object === undefined ? good : fc.constant(object) },
      { weight: 3, arbitrary: hostileText },
      { weight: 1, arbitrary: good },
    );
  };
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const pathValues = fc.tuple(...inPath.map(valueOf));
  const queryPairs = fc.tuple(
    ...inQuery.map((parameter) =>
      fc.option(
        valueOf(parameter).map((value) => [parameter.name, value] as const),
        { nil: null, freq: parameter.required ? 9 : 1 },
      ),
    ),
    fc.option(fc.tuple(hostileText, hostileText), { nil: null, freq: 1 }),
    // The same name twice, and names as those make them who think of objects and lists.
    fc.option(
      fc.tuple(fc.constantFrom('limit', 'limit[]', 'offset[a]', 'workspace_id', '__proto__[x]'), hostileText),
      { nil: null, freq: 1 },
    ),
  );
  const schema = requestBody?.content['application/json']?.schema;
  const form = requestBody?.content[FORM_TYPE]?.schema;
  const inHeaders = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
  return fc
    .record({
      pathValues,
      queryPairs,
      credential: credentials(path),
      headers: hostileHeaders(inHeaders),
      body: schema
        ? bodies(schema, resolve, hintsOf(path))
        : form
          ? forms(form, resolve)
          : fc.option(bodies({}, resolve, HINTS), { freq: 1 }),
    })
    .map(({ credential, headers, body, ...made }) => {
      const filled = inPath.reduce(
        (text, { name }, at) => text.replace(`{${name}}`, () => encode(made.pathValues[at] ?? '')),
        path,
      );
      const query = made.queryPairs
        .filter((pair) => pair !== null)
        .map(([name, value]) => `${encode(name)}=${encode(value)}`)
        .join('&');
      return { method, path: query === '' ? filled : `${filled}?${query}`, credential, headers, body };
    });
}

/** As it may stand in a request line: some texts are escaped already, wrongly perhaps. */
function encode(text: string): string {
  if (text.startsWith('own:')) return text;
  return text.startsWith('%') && /^[!-~]+$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

function credentials(path: string): fc.Arbitrary<FuzzRequest['credential']> {
  const isCall = /\/(embeddings|chat\/completions|responses)$/.test(path) || MESSAGES_PATH.test(path);
  const right = isCall ? 'inference' : 'management';
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(right) },
    { weight: 1, arbitrary: fc.constantFrom('management', 'inference', 'none', 'nonsense') },
  );
}

const HEADER_NAMES = [
  'x-request-id',
  'accept',
  'accept-encoding',
  'user-agent',
  'http-referer',
  'x-title',
  'traceparent',
  'x-forwarded-for',
  'forwarded',
  'origin',
  'cookie',
  'content-type',
  'x-http-method-override',
  'if-none-match',
  'range',
];
// Values that Node's client sends; the others are tried on the socket.
const headerValue = fc.oneof(
  fc.constantFrom(
    'on',
    'enabled',
    '*/*',
    'application/json',
    'text/html',
    'application/json; charset=x',
    '::1',
  ),
  fc.constantFrom(
    'a'.repeat(4_000),
    `<${SENT_WORD}>`,
    '${jndi:ldap://127.0.0.1/a}',
    '\u00ff\u0080',
    '"',
    ',',
    '',
  ),
  fc.stringMatching(/^[\t -~\u0080-\u00ff]{0,60}$/),
);

function hostileHeaders(declared: readonly string[]): fc.Arbitrary<Record<string, string>> {
  const names = fc.constantFrom(...HEADER_NAMES, ...declared, ...declared);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(names, headerValue, { maxKeys: 3 }) },
  );
}

function hintsOf(path: string): Hints {
  if (path.endsWith('/chat/completions')) return { ...HINTS, ...CHAT_HINTS };
  if (path.endsWith('/responses')) return { ...HINTS, ...RESPONSES_HINTS };
  return MESSAGES_PATH.test(path) ? { ...HINTS, ...MESSAGES_HINTS } : HINTS;
}

/** Parameters of a form, with values of its schema and others, some twice. */
function forms(schema: Schema, resolve: (reference: string) => Schema): fc.Arbitrary<FuzzBody> {
  const good = valuesOf(schema, resolve, HINTS).map((values) =>
    Object.entries(values ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const others = fc.array(fc.tuple(hostileText, hostileText), { maxLength: 3 });
  return fc.record({
    text: fc.tuple(good, others).map((pairs) => new URLSearchParams(pairs.flat()).toString()),
    encoding: fc.constantFrom('none', 'gzip', 'wrong', 'latin1'),
    isForm: fc.boolean(),
  });
}

function bodies(
  schema: Schema,
  resolve: (reference: string) => Schema,
  hints: Hints,
): fc.Arbitrary<FuzzBody> {
  const good = valuesOf(schema, resolve, hints);
  const asText = (values: fc.Arbitrary<unknown>) => values.map((value) => JSON.stringify(value) ?? '');
  return fc.record({
    text: fc.oneof(
      { weight: 6, arbitrary: asText(good) },
      { weight: 6, arbitrary: asText(corrupted(good)) },
      { weight: 1, arbitrary: asText(hostileValue) },
      { weight: 1, arbitrary: fc.constantFrom(...RAW_BODIES) },
      { weight: 1, arbitrary: fc.tuple(asText(good), fc.nat(400)).map(([text, end]) => text.slice(0, end)) },
    ),
    encoding: fc.oneof(
      { weight: 20, arbitrary: fc.constant('none' as const) },
      { weight: 1, arbitrary: fc.constantFrom('gzip', 'br', 'wrong', 'latin1') },
    ),
  });
}

const RAW_BODIES: readonly string[] = [
  '',
  ' ',
  'null',
  '{',
  '}{',
  '[]',
  `"${SENT_WORD}"`,
  '{"a":1,"a":2}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  `{"x":"\\ud800"}`,
  '{"x":1e999}',
  '{"input":"x","model":"local/hashing","dimensions":1e999}',
  '{"input":[1e999],"model":"local/hashing"}',
  `{"input":${'['.repeat(5_000)}`,
  '['.repeat(50_000),
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  `{"name":"${'n'.repeat(100_000)}"}`,
  '\ufeff{}',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'a=b&c=d',
];

/** The bytes of a body and what its headers say of them. */
export function encodeBody({ text, encoding }: FuzzBody): {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
} {
  const bytes = Buffer.from(text);
  switch (encoding) {
    case 'gzip':
      return { bytes: gzipSync(bytes), headers: { 'content-encoding': 'gzip' } };
    case 'br':
      return { bytes: brotliCompressSync(bytes), headers: { 'content-encoding': 'br' } };
    case 'wrong':
      return { bytes, headers: { 'content-encoding': 'gzip' } };
    case 'latin1':
      return { bytes: Buffer.from(text, 'latin1'), headers: {} };
    default:
      return { bytes, headers: {} };
  }
}
