import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { objectKeyOf } from './object-key.js';

const ENDED_AT = new Date('2026-03-09T23:59:59.999Z');
const FILE = '0193a1b2c3d470008000000000000001-1773100799.json';
const keyOf = (pathTemplate: string, overrides: Partial<GenerationTrace> = {}, prefix = 'traces'): string =>
  objectKeyOf({ prefix, pathTemplate }, generationTrace(1, { endedAt: ENDED_AT, ...overrides }));

describe('the path of an object', () => {
  it.each([
    ['{prefix}/{date}', 'traces/2026-03-09'],
    ['a/{year}/{month}/{day}', 'a/2026/03/09'],
    ['{apiKeyName}/{date}', 'Search service/2026-03-09'],
    ['{date}{date}', '2026-03-092026-03-09'],
    ['{unknown}/{constructor}', '{unknown}/{constructor}'],
    ['/leading//double/trailing/', 'leading/double/trailing'],
    ['a/./../b', 'a/_/_/b'],
    ['a\\b\u0000', 'a_b_'],
  ])('of the template %j is %j', (template, path) => {
    expect(keyOf(template)).toBe(`${path}/${FILE}`);
  });

  it('can be empty', () => {
    expect(keyOf('')).toBe(FILE);
    expect(keyOf('{prefix}', {}, '')).toBe(FILE);
  });

  it('has folders where the prefix has', () => {
    expect(keyOf('{prefix}', {}, '/team/a/')).toBe(`team/a/${FILE}`);
  });

  it.each([
    ['../../etc', '.._.._etc'],
    ['..', '_'],
    ['a/b', 'a_b'],
    ['line\nbreak', 'line_break'],
    ['{date}', '{date}'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['ключ 🔑', 'ключ 🔑'],
  ])('has one folder for the key %j', (apiKeyName, folder) => {
    expect(keyOf('{apiKeyName}', { apiKeyName })).toBe(`${folder}/${FILE}`);
  });

  it('is short enough for a store with any key name', () => {
    const key = keyOf('{prefix}/{date}/{apiKeyName}', { apiKeyName: '鍵'.repeat(1000) });
    expect(Buffer.byteLength(key)).toBeLessThan(1024);
  });
});

describe('the name of an object', () => {
  it('is the same for the same call, and has the end of the call, not the time of sending', () => {
    expect(keyOf('')).toBe(FILE);
    expect(keyOf('', { endedAt: new Date(ENDED_AT.getTime() + 1) })).toContain('-1773100800.json');
  });

  it('differs between calls that share a trace id and end in the same second', () => {
    const traceId = 'f'.repeat(32);
    const first = objectKeyOf(
      { prefix: '', pathTemplate: '' },
      generationTrace(1, { traceId, endedAt: ENDED_AT }),
    );
    const second = objectKeyOf(
      { prefix: '', pathTemplate: '' },
      generationTrace(2, { traceId, endedAt: ENDED_AT }),
    );
    expect(first).toBe(`${traceId}-1773100799-abcd000000000001.json`);
    expect(second).toBe(`${traceId}-1773100799-abcd000000000002.json`);
  });
});

describe('the bound of a key', () => {
  it.each([
    ['letters', 'a'.repeat(3_000)],
    ['characters of several bytes', 'ключ🔑/'.repeat(300)],
    ['segments', 'folder/'.repeat(500)],
  ])('cuts a path of %s at 1,024 bytes and keeps the name', (_what, template) => {
    const key = keyOf(template);
    expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1_024);
    expect(Buffer.byteLength(key)).toBeGreaterThan(1_000);
    expect(key.endsWith(`/${FILE}`)).toBe(true);
    expect(key).not.toContain('//');
    expect(key.isWellFormed()).toBe(true);
    expect(template.startsWith(key.slice(0, -FILE.length - 1))).toBe(true);
  });
});
