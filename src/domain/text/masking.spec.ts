// Masks, and their recognition.
import { describe, expect, it } from '@jest/globals';
import { createKeySecret, keyLabel } from '../keys/api-key.js';
import {
  hiddenPartsOf,
  isAddressMask,
  isSecretMask,
  maskAddress,
  maskPassword,
  maskQuery,
  maskSecret,
} from './masking.js';

it.each([
  'a',
  'elevenchars',
  'twelve-chars',
  'x'.repeat(500),
  'абвгдежзийклмн',
  '😀'.repeat(9),
  '123😀567890123',
])('the mask of %j is recognised', (secret) => {
  expect(isSecretMask(maskSecret(secret))).toBe(true);
  expect(isSecretMask(`Bearer ${maskSecret(secret)}`)).toBe(true);
});

it.each([maskPassword(), keyLabel(createKeySecret()), 'sk-or-v1-0e6...1c96', ' ****\n'])(
  '%j is recognised',
  (mask) => {
    expect(isSecretMask(mask)).toBe(true);
  },
);

it.each([
  '',
  '***',
  '*****',
  'sk-l...',
  '...AbCd',
  'sk-lf...AbCd',
  'sk-l..AbCd',
  'sk-l....AbCd',
  'a-secret...',
  'abc...56789',
  'a secret with... dots',
  'an-ellipsis-...-in-a-secret',
  'nineteen-chars...abcd',
  'twelve-chars...abcd',
  '****-****',
  'Basic c2s6Li4u',
])('%j is not a mask', (text) => {
  expect(isSecretMask(text)).toBe(false);
});

describe('the mask of an address', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com/'],
    ['https://example.com:4318/v1/traces', 'https://example.com:4318/v1/traces'],
    ['', ''],
    ['example.com', 'example.com'],
    ['https://example.com/traces', 'https://example.com/****'],
    ['https://example.com:8443/a/b?token=c#d', 'https://example.com:8443/****'],
    ['https://example.com?token=c', 'https://example.com/****'],
    ['https://example.com#token', 'https://example.com/****'],
    ['https://example.com/v1/traces?token=c', 'https://example.com/****'],
    ['https://example.com/v1/traces/token', 'https://example.com/****'],
    ['https://user:password@example.com/', 'https://****@example.com/'],
    ['https://user:pass@word@example.com/a', 'https://****@example.com/****'],
    ['  example.com/token\n', 'example.com/****'],
    ['https://[2001:db8::1]:8443/token', 'https://[2001:db8::1]:8443/****'],
    ['https:\\\\example.com\\token', 'https:/****'],
  ])('of %j is %j', (address, mask) => {
    expect(maskAddress(address)).toBe(mask);
    expect(isAddressMask(mask)).toBe(mask !== address);
  });

  it.each([
    ['https://example.com/api?token=c', 'https://example.com/api?****'],
    ['https://example.com/api#token', 'https://example.com/api?****'],
    ['https://user:password@example.com/api', 'https://****@example.com/api'],
    ['https://example.com/api', 'https://example.com/api'],
  ])('of a platform, %j, is %j', (address, mask) => {
    expect(maskQuery(address)).toBe(mask);
    expect(isAddressMask(mask)).toBe(mask !== address);
  });

  it('hides the parts that a text about the request may repeat, but no plain words', () => {
    const parts = hiddenPartsOf('https://example.com/webhooks/T0001/s3cret%2Fpath?token=s3cret-query', true);
    expect(parts).toEqual(
      expect.arrayContaining([
        '/webhooks/T0001/s3cret%2Fpath?token=s3cret-query',
        '/webhooks/T0001/s3cret%2Fpath',
        'T0001',
        's3cret%2Fpath',
        's3cret/path',
        's3cret-query',
      ]),
    );
    expect(parts).not.toContain('webhooks');
    expect(hiddenPartsOf('https://example.com/secret-path-token?a=s3cret', false)).not.toContain(
      'secret-path-token',
    );
  });
});
