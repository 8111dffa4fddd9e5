import { describe, expect, it } from '@jest/globals';
import { returnUrlOf } from './return-url.js';

const ORIGIN = 'https://gateway.example.com';

describe('the page after a sign-in', () => {
  it.each([
    ['/', `${ORIGIN}/`],
    ['/keys?workspace=a#b', `${ORIGIN}/keys?workspace=a#b`],
    ['/keys/ä', `${ORIGIN}/keys/%C3%A4`],
  ])('is the one that was asked for: %s', (path, url) => {
    expect(returnUrlOf(path, ORIGIN)).toBe(url);
  });

  it.each([
    '//e.com',
    '///e.com',
    '/\\e.com',
    '/\\/e.com',
    '/%5ce.com',
    'https:e.com',
    'https:/e.com',
    'https://e.com',
    '/a/../..//e.com',
    '/\t/e.com',
    '/.//e.com',
    'javascript:alert(1)',
    'data:text/html,x',
    '@e.com',
    '.e.com',
    '\u0000//e.com',
    `/${'a'.repeat(2_000)}`,
    '',
  ])('stays at the origin (V50): %j', (path) => {
    const url = returnUrlOf(path, ORIGIN);
    expect(url.startsWith(`${ORIGIN}/`)).toBe(true);
    expect(new URL(url, 'https://elsewhere.example').origin).toBe(ORIGIN);
  });

  it.each([undefined, null, 1, ['/keys', '/keys'], { a: '/keys' }])(
    'is the first one without a path: %j',
    (value) => {
      expect(returnUrlOf(value, ORIGIN)).toBe(`${ORIGIN}/`);
    },
  );

  it('is below the path of the service', () => {
    const url = `${ORIGIN}/signalbox`;
    expect(returnUrlOf('/signalbox/keys', url)).toBe(`${url}/keys`);
    for (const path of ['/other', '/signalbox-2/x', '/signalbox/../other'])
      expect(returnUrlOf(path, url)).toBe(`${url}/`);
  });
});
