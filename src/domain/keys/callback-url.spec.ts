import { expect, it } from '@jest/globals';
import { callbackProblem } from './callback-url.js';

const HOSTS = ['app.example.com', 'dev.example.com:8443'];

it.each([
  'http://localhost:3000/callback',
  'http://localhost/',
  'http://127.0.0.1:49152/cb?state=a%20b&x=1',
  'http://[::1]:8976/auth',
  'http://LOCALHOST:1/',
  'https://app.example.com/callback?state=x',
  'https://app.example.com:443/callback',
  'https://dev.example.com:8443/',
])('takes %s', (address) => {
  expect(callbackProblem(address, HOSTS)).toBeNull();
});

it.each([
  'http://127.0.0.1@e.com/',
  'http://127.0.0.1:80@e.com/',
  'http://user:password@localhost/',
  'http://localhost.e.com/',
  'http://localhost:3000@e.com/',
  'http://e.com/#http://localhost/',
  'http://localhost/#fragment',
  'http://127.0.0.2/',
  'http://10.0.0.1/',
  'http://[::2]/',
  'http:localhost/',
  'http:///localhost/',
  'http://localhost\\@e.com/',
  'http://loca\tlhost/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'app://callback',
  'https://e.com/',
  'https://localhost/',
  'https://app.example.com.e.com/',
  'https://app.example.com:8443/',
  'https://dev.example.com/',
  'http://app.example.com/',
  '',
  '/callback',
  `http://localhost/${'x'.repeat(2_048)}`,
])('refuses %.60s', (address) => {
  expect(callbackProblem(address, HOSTS)).toMatch(/^must /);
});
