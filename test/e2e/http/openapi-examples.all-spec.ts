// The examples of openapi.json equal the service's responses. UPDATE_EXAMPLES=1 records them again.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createTestApp } from '../../support/app/app.js';
import { documentedOperations, takeExamples } from '../../support/openapi-examples/journey.js';
import type { ExamplesOfOperation, Shown } from '../../support/openapi-examples/journey.js';
import { OpenApiValidator } from '../../support/app/openapi-validator.js';

const FILE = new URL('../../../src/runtime/openapi-examples.json', import.meta.url);
const OPERATIONS = documentedOperations();
const check = new OpenApiValidator();

type Examples = Readonly<Record<string, ExamplesOfOperation>>;

let fresh: Examples;
let committed: Examples;
beforeAll(async () => {
  fresh = await takeExamples();
  if (process.env['UPDATE_EXAMPLES'] === '1') {
    const { format, resolveConfig } = await import('prettier');
    const options = await resolveConfig(FILE.pathname);
    await writeFile(FILE, await format(JSON.stringify(fresh), { ...options, parser: 'json' }));
  }
  committed = JSON.parse(readFileSync(FILE, 'utf8')) as Examples;
});

const valuesOf = ({ example, examples }: Shown = {}): unknown[] =>
  examples ? Object.values(examples).map(({ value }) => value) : [example];

/** Differences between the members, or their types, of an example and of the service. */
function differences(example: unknown, real: unknown, where = ''): string[] {
  // A nullable member is null in some responses only; the schema checks it.
  if (example === null || real === null) return [];
  if (typeof example !== typeof real || Array.isArray(example) !== Array.isArray(real)) {
    return [`${where}: ${JSON.stringify(example)} instead of ${JSON.stringify(real)}`];
  }
  if (typeof example !== 'object') return [];
  const [ours, theirs] = [example, real] as Readonly<Record<string, unknown>>[];
  const names = [...new Set([...Object.keys(ours ?? {}), ...Object.keys(theirs ?? {})])];
  return names.flatMap((name) => {
    if (!Object.hasOwn(ours ?? {}, name)) return [`${where}/${name}: is missing`];
    if (!Object.hasOwn(theirs ?? {}, name)) return [`${where}/${name}: is never answered`];
    return differences(ours?.[name], theirs?.[name], `${where}/${name}`);
  });
}

describe('the examples', () => {
  it('belong to all operations and to no others', () => {
    expect(Object.keys(committed).toSorted()).toEqual(
      OPERATIONS.map(({ operationId }) => operationId).toSorted(),
    );
  });

  it.each(OPERATIONS)('of $operationId have the shape of the actual response', ({ operationId }) => {
    expect(differences(committed[operationId], fresh[operationId])).toEqual([]);
  });

  it.each(OPERATIONS)('of $operationId match its schema', ({ operationId, method, path, status }) => {
    for (const value of valuesOf(committed[operationId]?.[status])) {
      check.check(
        { method: method.toUpperCase(), url: path },
        { statusCode: Number(status) },
        Buffer.from(JSON.stringify(value)),
      );
    }
    expect(check.problems.splice(0)).toEqual([]);
  });

  it('contain data: no list is empty', () => {
    const empty = OPERATIONS.filter(({ operationId, status }) =>
      valuesOf(committed[operationId]?.[status]).some((value) => {
        const { data } = value as { data?: unknown };
        return Array.isArray(data) && data.length === 0;
      }),
    );
    expect(empty.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('contain no secret of any account', () => {
    const text = JSON.stringify(committed);
    expect(text).not.toMatch(/sk-sb-v1-(?!0{64}"|45a\.\.\.7480")/);
    expect(text).not.toMatch(/whsec_(?!0{43}=")/);
  });
});

it('appear in the served document and on its page', async () => {
  const app = await createTestApp();
  try {
    const { body } = await app.http.get('/api/v1/openapi.json').expect(200);
    const { post } = body.paths['/api/v1/observability/destinations'];
    expect(post.requestBody.content['application/json']).toMatchObject(
      committed['createObservabilityDestination']?.['request'] ?? {},
    );
    expect(post.responses['201'].content['application/json']).toMatchObject(
      committed['createObservabilityDestination']?.['201'] ?? {},
    );
    const page = await app.http.get('/docs').expect(200).expect('content-type', /html/);
    expect(page.text).toContain('signalbox API');
    const script = await app.http.get('/docs/swagger-ui-init.js').expect(200);
    expect(script.text).toContain('An OpenTelemetry Collector, with a tenth of the calls of one model');
  } finally {
    await app.close();
  }
});
