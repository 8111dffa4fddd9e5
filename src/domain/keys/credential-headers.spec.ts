import { expect, it } from '@jest/globals';
import { KEY_PREFIX } from './api-key.js';
import { presentedCredential } from './credential-headers.js';

const LONG = 'x'.repeat(513);

it.each([
  // headers, secret; undefined: no credential, null: a malformed one
  [{}, undefined],
  [{ authorization: '' }, undefined],
  [{ authorization: '  ', 'x-api-key': '', 'api-key': ' ' }, undefined],
  [{ authorization: 'Bearer one' }, 'one'],
  [{ authorization: 'bEARER   one  ' }, 'one'],
  [{ authorization: 'Bearer' }, null],
  [{ authorization: 'Bearer a b' }, null],
  [{ authorization: 'Basic b25lOnR3bw==' }, null],
  [{ authorization: `Bearer ${LONG}` }, null],
  [{ 'x-api-key': 'one' }, 'one'],
  [{ 'api-key': 'one' }, 'one'],
  [{ 'x-portkey-api-key': 'one' }, 'one'],
  [{ 'x-api-key': 'a b' }, null],
  [{ 'api-key': LONG }, null],
  [{ authorization: 'Bearer one', 'x-api-key': 'two', 'api-key': 'three' }, 'one'],
  [{ authorization: 'Basic b25lOnR3bw==', 'x-api-key': 'two' }, null],
  [{ authorization: 'Bearer one', 'api-key': `${KEY_PREFIX}two` }, `${KEY_PREFIX}two`],
  [{ authorization: `Bearer ${KEY_PREFIX}one`, 'api-key': `${KEY_PREFIX}one` }, `${KEY_PREFIX}one`],
  [{ authorization: `Bearer ${KEY_PREFIX}one`, 'api-key': `${KEY_PREFIX}two` }, null],
  [{ authorization: `Bearer ${KEY_PREFIX}one`, 'x-api-key': 'sk-ant-two' }, `${KEY_PREFIX}one`],
  [{ authorization: 'Bearer one', 'x-api-key': 'sk-sb-t1-two' }, 'sk-sb-t1-two'],
  [{ authorization: `Bearer ${KEY_PREFIX}one`, 'api-key': 'sk-sb-t1-two' }, null],
  [{ authorization: '', 'x-api-key': '', 'api-key': 'three' }, 'three'],
  [{ authorization: 'Bearer ', 'x-portkey-api-key': 'four' }, 'four'],
])('of %j the secret is %p', (headers, secret) => {
  expect(presentedCredential(headers)?.secret).toBe(secret);
});
