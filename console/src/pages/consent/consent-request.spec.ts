import { describe, expect, it } from '@jest/globals';
import { addParameters, readConsentRequest } from './consent-request';

const GOOD = {
  callback_url: 'http://localhost:8976/callback',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
};

describe('readConsentRequest', () => {
  it.each(['http://127.0.0.1:1/', 'http://[::1]:8976/x?y=z', 'http://localhost/'])(
    'takes the callback %s as one of this machine',
    (callback) => {
      expect(readConsentRequest({ ...GOOD, callback_url: callback })).toMatchObject({
        callback,
        isLoopback: true,
      });
    },
  );

  it('leaves hosts of https to the service, which knows those of its operator', () => {
    expect(readConsentRequest({ ...GOOD, callback_url: 'https://app.example.com:8443/x' })).toMatchObject({
      host: 'app.example.com:8443',
      isLoopback: false,
    });
  });

  it.each([
    [undefined, /no callback_url/],
    ['callback', /absolute/],
    ['http://127.0.0.1@example.com/', /user name/],
    ['http://localhost:secret@example.com/', /user name/],
    ['http://localhost.example.com/', /would go to localhost\.example\.com/],
    ['http://example.com/?localhost', /would go to example\.com/],
    ['javascript:alert(1)', /would go to javascript:/],
    ['http://localhost/#here', /fragment/],
    ['ftp://localhost/', /would go to localhost/],
  ])('refuses the callback %s (V64)', (callback, reason) => {
    expect(readConsentRequest({ ...GOOD, callback_url: callback })).toMatch(reason);
  });

  it.each([
    [{ code_challenge: undefined }, /no code_challenge/],
    [{ code_challenge_method: 'plain' }, /S256, not plain\./],
    [{ code_challenge_method: undefined }, /code_challenge_method=S256\.$/],
    [{ code_challenge: 'short' }, /not a SHA-256/],
  ])('refuses a request with %j', (members, reason) => {
    expect(readConsentRequest({ ...GOOD, ...members })).toMatch(reason);
  });
});

describe('addParameters', () => {
  it.each([
    ['http://localhost/cb', 'http://localhost/cb?code=c'],
    ['http://localhost', 'http://localhost?code=c'],
    ['http://localhost/cb?state=a%20b+c', 'http://localhost/cb?state=a%20b+c&code=c'],
    ['http://localhost/cb?', 'http://localhost/cb?code=c'],
    ['http://localhost/cb?a=1&', 'http://localhost/cb?a=1&code=c'],
  ])('adds the code to %s without a change of its own parameters', (callback, expected) => {
    expect(addParameters(callback, { code: 'c' })).toBe(expected);
  });
});
