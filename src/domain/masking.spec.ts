// Masks, and telling them from secrets.
import { expect, it } from '@jest/globals';
import { isPasswordMask, isSecretMask, maskPassword, maskSecret } from './masking.js';

it.each([
  'a',
  'elevenchars',
  'twelve-chars',
  'x'.repeat(500),
  'абвгдежзийклмн',
  '😀'.repeat(9),
  '123😀567890123',
])('the mask of %j is told to be one', (secret) => {
  expect(isSecretMask(maskSecret(secret))).toBe(true);
  expect(isPasswordMask(maskPassword())).toBe(true);
});

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
])('%j is none', (text) => {
  expect(isSecretMask(text)).toBe(false);
  expect(isPasswordMask(text)).toBe(false);
});
