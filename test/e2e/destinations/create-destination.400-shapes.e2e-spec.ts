// POST /observability/destinations: rejected filter rules and hostile bodies.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import {
  deleteAllDestinations,
  expectInvalidRequest,
  expectNothingStored,
  post,
  WEBHOOK,
} from '../../support/requests/create-destination.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(async () => {
  await expectNothingStored(app);
  await app.close();
});

const expectRejection = (body: object | string, detail: string | RegExp) =>
  expectInvalidRequest(app, body, detail);
const webhookWith = (members: object) => ({ ...WEBHOOK, ...members });
const filterWith = (rule: object) =>
  webhookWith({
    filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'equals', value: 'x' }, rule] }] },
  });
const RULE = 'filter_rules.groups[0].rules[1]';

describe('400 filter_rules', () => {
  it.each([
    [[], 'filter_rules: must be an object or null'],
    ['x', 'filter_rules: must be an object or null'],
    [{}, 'filter_rules.groups: must be an array'],
    [{ groups: {} }, 'filter_rules.groups: must be an array'],
    [{ groups: [null] }, 'filter_rules.groups: must hold only objects'],
    [{ groups: [[]] }, 'filter_rules.groups: must hold only objects'],
    [{ groups: [[{ rules: [] }]] }, 'filter_rules.groups: must hold only objects'],
    [{ groups: [], enabled: null }, 'filter_rules.enabled: must be a boolean'],
    [{ groups: [], logic: 'or' }, 'filter_rules.logic: is not a member of this object'],
    [{ groups: [{}] }, 'filter_rules.groups[0].rules: must be an array'],
    [{ groups: [{ rules: ['x'] }] }, 'filter_rules.groups[0].rules: must hold only objects'],
    [{ groups: [{ rules: [[]] }] }, 'filter_rules.groups[0].rules: must hold only objects'],
    [{ groups: [{ rules: [], logic: 'xor' }] }, 'filter_rules.groups[0].logic: must be one of and, or'],
    [{ groups: [{ rules: [], logic: null }] }, 'filter_rules.groups[0].logic: must be one of and, or'],
    [
      { groups: Array.from({ length: 51 }, () => ({ rules: [] })) },
      'filter_rules.groups: must have at most 50 elements',
    ],
  ])('rejects the filter rules %#', async (rules, detail) => {
    await expectRejection(webhookWith({ filter_rules: rules }), detail);
  });

  it.each([
    [{ field: 'cost', operator: 'exists' }, /field: must be one of model, provider, .*, completion_tokens$/],
    [{ field: 'model', operator: 'like', value: 'x' }, /operator: must be one of equals, .*, not_exists$/],
    [{ field: 'model', operator: { toFixed: 1 }, value: 'x' }, /operator: must be one of equals/],
    [{ field: 'model', operator: 'equals' }, 'value: is required for equals'],
    [{ field: 'model', operator: 'equals', value: null }, 'value: must be a string or a number'],
    [{ field: 'model', operator: 'exists', value: null }, 'value: must be a string or a number'],
    [{ field: 'model', operator: 'equals', value: true }, 'value: must be a string or a number'],
    [{ field: 'model', operator: 'equals', value: ['x'] }, 'value: must be a string or a number'],
    [{ field: 'total_cost', operator: 'gt', value: 'much' }, 'value: must be a finite number for gt'],
    [{ field: 'total_cost', operator: 'lte', value: '' }, 'value: must be a finite number for lte'],
    [{ field: 'total_cost', operator: 'lt', value: ' ' }, 'value: must be a finite number for lt'],
    [{ field: 'total_cost', operator: 'gte', value: 'Infinity' }, 'value: must be a finite number for gte'],
    [{ field: 'model', operator: 'regex', value: '(' }, 'value: is not a valid RE2 regular expression'],
    [{ field: 'model', operator: 'regex', value: '(?=x)' }, 'value: is not a valid RE2 regular expression'],
    [
      { field: 'input', operator: 'regex', value: `(?:${'a'.repeat(985)}){1000}` },
      'value: is too large: its repeats, classes and alternatives come to some 985002 instructions, at most 1200 are allowed',
    ],
    [
      { field: 'input', operator: 'regex', value: '((a{20}){10}){10}' },
      'value: is too large: its repeats, classes and alternatives come to some 2222 instructions, at most 1200 are allowed',
    ],
    [
      { field: 'input', operator: 'regex', value: '(?i)[\\p{L}]{500}' },
      'value: is too large: its repeats, classes and alternatives come to some 5022 instructions, at most 1200 are allowed',
    ],
    [
      { field: 'input', operator: 'regex', value: '('.repeat(51) + ')'.repeat(51) },
      'value: nests groups 51 deep, at most 50 are allowed',
    ],
    [{ field: 'model', operator: 'regex', value: '(x)\\1' }, 'value: is not a valid RE2 regular expression'],
    [
      { field: 'model', operator: 'regex', value: 'x'.repeat(1001) },
      'value: must have at most 1000 characters',
    ],
    [
      { field: 'input', operator: 'contains', value: 'x'.repeat(10_001) },
      'value: must have at most 10000 characters',
    ],
    [
      { field: 'input', operator: 'contains', value: 'nul \0' },
      'value: must not hold NUL or half a surrogate pair',
    ],
    [
      { field: 'input', operator: 'contains', value: '\udc00' },
      'value: must not hold NUL or half a surrogate pair',
    ],
    [{ field: 'model', operator: 'exists', values: [] }, 'values: is not a member of this object'],
  ])('rejects the rule %#', async (rule, problem) => {
    await expectRejection(filterWith(rule), typeof problem === 'string' ? `${RULE}.${problem}` : problem);
  });

  it('accepts a regular expression that is slow elsewhere: it takes linear time', async () => {
    const response = await post(app, filterWith({ field: 'input', operator: 'regex', value: '(a+)+$' }));
    expect(response.status).toBe(201);
    await deleteAllDestinations(app);
  });
});

describe('400 hostile shapes', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__defineGetter__', 'valueOf'];
  const VALUES = ['"x"', 'null', '[]', '{"polluted":true}', '{"prototype":{"polluted":true}}'];
  // The object literal cannot say these names, JSON can.
  const PATHS: readonly (readonly [string, string])[] = [
    ['', '{"type":"webhook","name":"n","config":{"url":"x"},@}'],
    ['config.', '{"type":"webhook","name":"n","config":{"url":"x",@}}'],
    ['config.headers.', '{"type":"webhook","name":"n","config":{"url":"x","headers":{@}}}'],
    ['filter_rules.', '{"type":"webhook","name":"n","config":{"url":"x"},"filter_rules":{"groups":[],@}}'],
    ['config.', '{"type":"unknown","name":"n","config":{@}}'],
  ];

  it.each(PATHS)('rejects names that every object has, by name, at "%s"', async (path, template) => {
    for (const name of NAMES) {
      for (const value of VALUES) {
        await expectRejection(
          template.replace('@', () => `${JSON.stringify(name)}:${value}`),
          `${path}${name}: is not a name that a member may have`,
        );
      }
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([['name'], ['type'], ['config'], ['api_key_hashes'], ['filter_rules'], ['regions'], ['unknown']])(
    'rejects a hundred thousand levels of nesting at %s',
    async (member) => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      const body = JSON.stringify(webhookWith({ [member]: '@' })).replace('"@"', deep);
      await expectRejection(body, `${member}: is nested too deeply`);
    },
  );

  it('cuts a very long unknown name, and cleans one with control characters', async () => {
    await expectRejection(
      webhookWith({ ['x'.repeat(5000)]: 1, 'a\r\nb': 1 }),
      `${'x'.repeat(64)}...: is not a member of this object; a??b: is not a member of this object`,
    );
  });
});
