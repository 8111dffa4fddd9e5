import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { inlinedSchema } from './inlined-schema.js';

const NAME = { type: 'string', minLength: 1 };

describe('a schema', () => {
  it('has its references replaced, and keeps all other keywords', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { name: NAME, both: { anyOf: [{ $ref: '#/$defs/name' }, { type: 'null' }] } },
      properties: {
        first: { $ref: '#/$defs/name', description: 'The first.' },
        second: { $ref: '#/$defs/both' },
        third: { type: 'array', items: { $ref: '#/$defs/name' }, minItems: 1 },
      },
      additionalProperties: false,
      required: ['first'],
    };
    const { $schema: _dialect, ...rest } = schema;
    const both = { anyOf: [NAME, { type: 'null' }] };
    expect(inlinedSchema(schema)).toEqual({
      ...rest,
      $defs: { name: NAME, both },
      properties: {
        first: { ...NAME, description: 'The first.' },
        second: both,
        third: { type: 'array', items: NAME, minItems: 1 },
      },
    });
  });

  it('keeps a property that is named like the dialect', () => {
    const schema = { type: 'object', properties: { $schema: { type: 'string' } } };
    expect(inlinedSchema({ $schema: 'x', ...schema })).toEqual(schema);
  });

  it.each([
    ['#', 'the whole document'],
    ['#/$defs/none', 'nothing'],
    ['#/$defs/constructor', 'a name of every object'],
    ['other.json#/a', 'another document'],
    ['#/%zz', 'a broken escape'],
    ['#/type', 'no schema'],
  ])('keeps a reference to %s (%s)', ($ref) => {
    const schema = { type: 'object', $defs: { a: NAME }, properties: { a: { $ref } } };
    expect(inlinedSchema(schema)).toEqual(schema);
  });

  it.each([
    ['#/$defs/a~1b', { $defs: { 'a/b': NAME } }],
    ['#/$defs/a%20b', { $defs: { 'a b': NAME } }],
    ['#/definitions/0/x', { definitions: [{ x: NAME }] }],
    ['#/properties/other', { properties: { other: NAME } }],
  ])('follows %s', ($ref, members) => {
    const schema: JsonObject = { ...members, items: { $ref } };
    expect(inlinedSchema(schema)).toEqual({ ...members, items: NAME });
  });

  it('keeps a circular reference where it begins again', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    const schema = { type: 'object', $defs: { node }, properties: { head: { $ref: '#/$defs/node' } } };
    expect(inlinedSchema(schema)['properties']).toEqual({ head: node });
  });

  it('is followed to a depth of 32', () => {
    const names = Array.from({ length: 40 }, (_none, index) => `n${index}`);
    const $defs = Object.fromEntries(
      names.map((name, index) => [name, index === 39 ? NAME : { items: { $ref: `#/$defs/n${index + 1}` } }]),
    );
    const { head } = inlinedSchema({ $defs, head: { $ref: '#/$defs/n0' } });
    const text = JSON.stringify(head);
    expect(text.match(/"items"/g)).toHaveLength(32);
    expect(text).toContain('#/$defs/n32');
  });

  it('grows within a bound where every definition names the next one twice', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_none, index) => {
        const next = { $ref: `#/$defs/n${index + 1}` };
        return [`n${index}`, { properties: { a: next, b: next } }];
      }),
    );
    const inlined = inlinedSchema({ $defs, head: { $ref: '#/$defs/n0' } });
    expect(JSON.stringify(inlined).length).toBeLessThan(2_000_000);
  });
});
