// The address of a request, by trusted proxies and the hops of `X-Forwarded-For`.
import { expect, it } from '@jest/globals';
import { addressReader } from './client-address.js';

const TRUSTED = ['10.0.0.0/8', '192.0.2.7/32', 'fd00::/8'];

it.each([
  // peer, X-Forwarded-For, address
  ['203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.0.0.1', ' 198.51.100.1 ', '198.51.100.1'],
  ['10.0.0.1', '6.6.6.6, 198.51.100.1, 192.0.2.7, fd00::1', '198.51.100.1'],
  ['10.0.0.1', '10.9.9.9, 10.0.0.2', '10.9.9.9'],
  ['10.0.0.1', '6.6.6.6, unknown, 10.0.0.2', '10.0.0.2'],
  ['10.0.0.1', "6.6.6.6, ' OR 1=1", '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1,', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  ['10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
  ['10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['10.0.0.1', '999.1.1.1', '10.0.0.1'],
  // IPv4 addresses that are mapped into IPv6, as sockets of both families show them.
  ['::ffff:203.0.113.5', undefined, '203.0.113.5'],
  ['::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '[::ffff:198.51.100.1]:443', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, ::ffff:10.0.0.2', '198.51.100.1'],
  ['10.0.0.1', Array.from({ length: 5_000 }, () => '10.0.0.3').join(','), '10.0.0.3'],
])('from %s with %p is %s', (peer, forwardedFor, address) => {
  expect(addressReader(TRUSTED)(peer, forwardedFor)).toBe(address);
});

it('trusts only the named proxies', () => {
  expect(addressReader([])('10.0.0.1', '198.51.100.1')).toBe('10.0.0.1');
});
