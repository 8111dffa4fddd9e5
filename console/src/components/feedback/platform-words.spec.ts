import { expect, it } from '@jest/globals';
import { platformWords } from './platform-words';

it.each([
  ['HTTP 401: {}', 'The credential is refused (HTTP 401)'],
  ['HTTP 401', 'The credential is refused (HTTP 401)'],
  ['HTTP 503', 'The platform fails (HTTP 503)'],
  ['HTTP 418: null', 'The platform refuses (HTTP 418)'],
  ['HTTP 404: Not Found', 'Nothing answers at this address (HTTP 404)'],
  ['HTTP 401: this signature is not ours', 'HTTP 401: this signature is not ours'],
  ['HTTP 400: {"error":"no project"}', 'HTTP 400: {"error":"no project"}'],
  ['the connection was refused', 'the connection was refused'],
  ['', ''],
])('words %j', (message, words) => {
  expect(platformWords(message)).toBe(words);
});
