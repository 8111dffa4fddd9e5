import { expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import openApi from '../../openapi.json' with { type: 'json' };
import { toYaml } from './yaml-text.js';

it('writes the text that stringify writes', async () => {
  for (const document of [
    openApi,
    { a: 1, b: {}, c: [], d: { e: null, f: { g: { h: [{ i: 'x' }] }, k: 'line\nline\n' } }, l: { e: 2 } },
    { 'a: b': { 'c #': { '- d': { e: 1 } }, f: 'x'.repeat(200) }, '': { '': { '': ' ' } } },
  ]) {
    const text = await toYaml(document);
    expect(text).toBe(stringify(document));
    expect(parse(text)).toEqual(document);
  }
});

it('lets other work run between members', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  await toYaml(openApi);
  clearImmediate(turn);
  expect(turns).toBeGreaterThan(Object.keys(openApi.components.schemas).length);
});
