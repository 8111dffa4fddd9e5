// The committed openapi.json equals the code's document and satisfies the contract.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../../src/app.module.js';
import { setUpApplication } from '../../src/app.setup.js';
import { readAppConfig } from '../../src/config/app-config.js';
import { DESTINATION_TYPES } from '../../src/destination-kinds/index.js';
import { buildOpenApiDocument } from '../../src/runtime/openapi-document.js';
import { CONTRACT_KINDS } from '../support/deliveries/contract-kinds.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
}

interface Operation {
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
      }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

// With the errors that the contract declares for it.
const OPERATIONS = [
  {
    path: '/api/v1/observability/destinations',
    method: 'post',
    success: 201,
    errors: [400, 401, 403, 409, 500],
  },
  { path: '/api/v1/keys/{hash}', method: 'get', success: 200, errors: [401, 404, 429, 500] },
  {
    path: '/api/v1/embeddings',
    method: 'post',
    success: 200,
    errors: [400, 401, 402, 404, 408, 413, 429, 500, 502, 503, 524, 529],
  },
];

const DESTINATION_MEMBERS = (
  'id workspace_id name enabled privacy_mode broadcast_generation_cost ' +
  'broadcast_generation_identity broadcast_generation_request_context sampling_rate api_key_hashes ' +
  'filter_rules regions created_at updated_at type config'
).split(' ');
const KEY_MEMBERS = (
  'hash name label disabled limit limit_remaining limit_reset include_byok_in_limit usage ' +
  'usage_daily usage_weekly usage_monthly byok_usage byok_usage_daily byok_usage_weekly ' +
  'byok_usage_monthly created_at updated_at expires_at creator_user_id workspace_id external_user'
).split(' ');

let application: NestExpressApplication;
let document: Document;
beforeAll(async () => {
  const config = readAppConfig(
    {
      DATABASE_URL: 'postgresql://nowhere.invalid/none',
      ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
    },
    [],
  );
  application = await NestFactory.create(AppModule.forRoot(config), { logger: false, bodyParser: false });
  setUpApplication(application);
  // As in the file: without values that JSON does not have.
  document = JSON.parse(JSON.stringify(buildOpenApiDocument(application))) as Document;
});
afterAll(() => application.close());

function resolve(schema: Schema | undefined): Schema {
  if (schema?.$ref === undefined) return schema ?? {};
  return resolve(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]);
}

function answerOf(path: string, method: string, status: number): Schema {
  return resolve(document.paths[path]?.[method]?.responses[status]?.content['application/json']?.schema);
}

function member(schema: Schema, name: string): Schema {
  return resolve(schema.properties?.[name]);
}

it('equals the printed document (npm run build && npm run openapi)', async () => {
  const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(document);
  expect(committed).toBe(`${JSON.stringify(document, null, 2)}\n`);
});

describe('operations', () => {
  it('are documented under the version prefix', () => {
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(OPERATIONS.map(({ path }) => path)));
    expect(document.openapi).toMatch(/^3\.1\./);
  });

  it.each(OPERATIONS)(
    'of $method $path declare every status of the contract',
    ({ path, method, success, errors }) => {
      const declared = Object.keys(document.paths[path]![method]!.responses).map(Number);
      expect(declared).toEqual(expect.arrayContaining([success, ...errors]));
      expect(declared.filter((status) => status < 300)).toEqual([success]);
    },
  );

  it.each(OPERATIONS)(
    'of $method $path have the error shape and message in every error',
    ({ path, method }) => {
      for (const [status, { description }] of Object.entries(document.paths[path]![method]!.responses)) {
        if (Number(status) < 400) continue;
        const error = member(answerOf(path, method, Number(status)), 'error');
        expect(error.required).toEqual(['code', 'message']);
        expect(member(error, 'code').type).toBe('integer');
        expect(member(error, 'message').type).toBe('string');
        expect(description).not.toBe('');
      }
    },
  );

  it('need a bearer credential, which is documented', () => {
    for (const { path, method } of OPERATIONS) {
      expect(document.paths[path]![method]!.security).toEqual([{ bearer: [] }]);
    }
    expect(document.components.securitySchemes['bearer']).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('have no dangling reference', () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name!,
    );
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining([...new Set(names)]));
  });
});

describe('success bodies', () => {
  it('have exactly the members of the contract for a destination, all required', () => {
    const record = member(answerOf('/api/v1/observability/destinations', 'post', 201), 'data');
    expect(Object.keys(record.properties!).toSorted()).toEqual(DESTINATION_MEMBERS.toSorted());
    expect(record.required!.toSorted()).toEqual(DESTINATION_MEMBERS.toSorted());
    expect(member(record, 'type').enum).toEqual(DESTINATION_TYPES);
    expect(member(record, 'config').anyOf).toHaveLength(CONTRACT_KINDS.length);
    for (const name of ['name', 'api_key_hashes']) expect(member(record, name).type).toContain('null');
    expect(member(record, 'filter_rules').anyOf).toContainEqual({ type: 'null' });
  });

  it('have exactly the members of the contract for a key, and six of this service, all required', () => {
    const record = member(answerOf('/api/v1/keys/{hash}', 'get', 200), 'data');
    const ofThisService =
      'effective_limit embedding_cache is_management_key last_used_at last_used_on refusals'.split(' ');
    const members = [...KEY_MEMBERS, ...ofThisService].toSorted();
    expect(Object.keys(record.properties!).toSorted()).toEqual(members);
    expect(record.required!.toSorted()).toEqual(members);
    const nullable = KEY_MEMBERS.filter((name) => member(record, name).type?.includes('null'));
    // The clients take null for these and for no other (docs/contract.md#clients).
    expect(nullable.toSorted().join(' ')).toBe(
      'creator_user_id expires_at external_user limit limit_remaining limit_reset updated_at',
    );
  });

  it('have the members of the contract for embeddings', () => {
    const answer = answerOf('/api/v1/embeddings', 'post', 200);
    expect(answer.required).toEqual(expect.arrayContaining(['object', 'data', 'model', 'id', 'usage']));
    const embedding = resolve(member(answer, 'data').items);
    expect(embedding.required!.toSorted()).toEqual(['embedding', 'index', 'object']);
    expect(member(answer, 'usage').required).toEqual(
      expect.arrayContaining(['prompt_tokens', 'total_tokens']),
    );
  });
});

describe('request bodies', () => {
  const bodyOf = (path: string): Schema =>
    resolve(document.paths[path]!['post']!.requestBody!.content['application/json']!.schema);

  it('require type, name and config of a destination, and document the other defaults', () => {
    const body = bodyOf('/api/v1/observability/destinations');
    expect(body.required!.toSorted()).toEqual(['config', 'name', 'type']);
    const defaults = Object.keys(body.properties!).map((name) => [name, member(body, name).default]);
    expect(Object.fromEntries(defaults)).toMatchObject({
      enabled: true,
      privacy_mode: false,
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
      sampling_rate: 1,
      regions: ['global'],
    });
  });

  it.each(CONTRACT_KINDS)('describe the config of $type', ({ type, filled, present = [], defaults }) => {
    const position = CONTRACT_KINDS.findIndex((kind) => kind.type === type);
    const config = resolve(member(bodyOf('/api/v1/observability/destinations'), 'config').anyOf![position]);
    expect((config.required ?? []).toSorted()).toEqual([...filled, ...present].toSorted());
    for (const field of filled) expect(member(config, field).minLength).toBe(1);
    for (const [field, value] of Object.entries(defaults)) expect(member(config, field).default).toBe(value);
    for (const name of Object.keys(config.properties!)) expect(member(config, name).description).toBeTruthy();
    expect(member(config, 'headers').type).toBe('object');
  });

  it('require input and model of embeddings', () => {
    expect(bodyOf('/api/v1/embeddings').required!.toSorted()).toEqual(['input', 'model']);
  });
});
