import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { isInRange, readIpAddress, readIpRange, specialPurposeOf } from './ip-ranges.js';

const purposeOf = (text: string): string | null => {
  const address = readIpAddress(text);
  if (address === null) throw new Error(`${text} is no address`);
  return specialPurposeOf(address);
};
const contains = (range: string, address: string): boolean =>
  isInRange(readIpAddress(address)!, readIpRange(range)!);

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const hexOf = (numbers: readonly number[]): string =>
  numbers.map((number) => number.toString(16).padStart(2, '0')).join('');

describe('special purposes', () => {
  // First and last address of every range.
  it.each([
    ['0.0.0.0', '0.255.255.255', 'an unspecified address'],
    ['127.0.0.0', '127.255.255.255', 'a loopback address'],
    ['10.0.0.0', '10.255.255.255', 'a private address'],
    ['172.16.0.0', '172.31.255.255', 'a private address'],
    ['192.168.0.0', '192.168.255.255', 'a private address'],
    ['100.64.0.0', '100.127.255.255', 'a shared address of a provider'],
    ['169.254.0.0', '169.254.255.255', 'a link-local address'],
    ['168.63.129.16', '168.63.129.16', 'a metadata address'],
    ['192.0.0.0', '192.0.0.255', 'an address of the protocols themselves'],
    ['192.88.99.0', '192.88.99.255', 'an address of the protocols themselves'],
    ['192.0.2.0', '192.0.2.255', 'an address for documentation'],
    ['198.51.100.0', '198.51.100.255', 'an address for documentation'],
    ['203.0.113.0', '203.0.113.255', 'an address for documentation'],
    ['198.18.0.0', '198.19.255.255', 'an address for benchmarks'],
    ['224.0.0.0', '239.255.255.255', 'a multicast address'],
    ['240.0.0.0', '255.255.255.255', 'a reserved address'],
    ['::', '::', 'an unspecified address'],
    ['::1', '::1', 'a loopback address'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'a private address'],
    ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'a private address'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'a link-local address'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'a multicast address'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'an address of the protocols themselves'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'an address for documentation'],
    ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'an address for documentation'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'an address that is not public'],
    ['100::', '100::ffff:ffff:ffff:ffff', 'an address that is not public'],
    ['4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'an address that is not public'],
  ])('%s to %s is %s', (first, last, purpose) => {
    expect([purposeOf(first), purposeOf(last)]).toEqual([purpose, purpose]);
  });

  // The neighbours of those ranges.
  it.each([
    ['1.0.0.0', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
    ['168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
    ['191.255.255.255', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.88.100.0', '192.167.255.255'],
    ['192.169.0.0', '198.17.255.255', '198.20.0.0', '198.51.99.255', '198.51.101.0', '203.0.112.255'],
    ['203.0.114.0', '223.255.255.255', '8.8.8.8', '93.184.216.34'],
    ['2000::', '2001:200::', '2001:db7:ffff::', '2001:db9::', '2003::', '2606:4700:4700::1111', '3ffe::'],
    ['3fff:1000::', '2001:4860:4860::8888'],
  ])('%s and others beside them are public', (...addresses) => {
    expect(addresses.filter((address) => purposeOf(address) !== null)).toEqual([]);
  });
});

describe('IPv6 forms of IPv4 addresses', () => {
  it.each([
    ['mapped', ([a, b, c, d]: number[]) => `::ffff:${a}.${b}.${c}.${d}`],
    [
      'mapped, in full',
      (parts: number[]) => `0:0:0:0:0:ffff:${hexOf(parts.slice(0, 2))}:${hexOf(parts.slice(2))}`,
    ],
    ['translated', (parts: number[]) => `::ffff:0:${hexOf(parts.slice(0, 2))}:${hexOf(parts.slice(2))}`],
    ['NAT64', (parts: number[]) => `64:ff9b::${hexOf(parts.slice(0, 2))}:${hexOf(parts.slice(2))}`],
    ['6to4', (parts: number[]) => `2002:${hexOf(parts.slice(0, 2))}:${hexOf(parts.slice(2))}:1:2:3:4:5`],
    ['mapped, with a zone', ([a, b, c, d]: number[]) => `::ffff:${a}.${b}.${c}.${d}%eth0`],
  ])('%s: is read as the IPv4 address', (_name, formOf) => {
    fc.assert(
      fc.property(octets, (parts) => {
        expect(readIpAddress(formOf(parts))).toEqual(readIpAddress(parts.join('.')));
      }),
    );
  });

  it('compatible: is read as the IPv4 address, except for `::` and `::1`', () => {
    fc.assert(
      fc.property(octets, (parts) => {
        const isIpv6 = hexOf(parts) <= '00000001';
        expect(readIpAddress(`::${hexOf(parts.slice(0, 2))}:${hexOf(parts.slice(2))}`)!.family).toBe(
          isIpv6 ? 6 : 4,
        );
      }),
      { examples: [[[0, 0, 0, 0]], [[0, 0, 0, 1]], [[0, 0, 0, 2]]] },
    );
    expect(readIpAddress('::127.0.0.1')).toEqual(readIpAddress('127.0.0.1'));
  });

  it('Teredo is never public', () => {
    expect(purposeOf('2001:0:4136:e378:8000:63bf:f7f7:f7f7')).toBe('an address of the protocols themselves');
  });
});

describe('reading', () => {
  it.each([
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '127.0.0.1/8',
    '[::1]',
    '1.2.3.4.5',
    '256.0.0.1',
    '::1::',
    ' ::1',
  ])('%j is not an address', (text) => {
    expect(readIpAddress(text)).toBeNull();
  });

  it.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '/8',
    'x/8',
  ])('%j is not a range', (text) => {
    expect(readIpRange(text)).toBeNull();
  });
});

describe('ranges', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', '11.0.0.0'],
    // Bits behind the prefix do not count.
    ['10.1.2.3/8', '10.255.0.1', '11.0.0.0'],
    ['10.1.2.3/32', '10.1.2.3', '10.1.2.4'],
    ['0.0.0.0/0', '255.255.255.255', '::1'],
    ['::ffff:10.0.0.0/104', '10.255.0.1', '11.0.0.0'],
    ['10.0.0.0/8', '::ffff:10.255.0.1', '::ffff:11.0.0.0'],
    ['fd00::/8', 'fdff::1', 'fc00::1'],
    ['::1/128', '::1', '::'],
    // All of IPv6, without forms of IPv4 addresses.
    ['::/0', 'fe80::1', '::ffff:10.0.0.1'],
    ['::/0', '::1', '10.0.0.1'],
  ])('%s holds %s and not %s', (range, inside, outside) => {
    expect([contains(range, inside), contains(range, outside)]).toEqual([true, false]);
  });

  it('a range holds an address exactly if their first bits are the same', () => {
    const bitsOf = (parts: readonly number[]): string =>
      parts.map((part) => part.toString(2).padStart(8, '0')).join('');
    fc.assert(
      fc.property(octets, octets, fc.nat(32), (first, parts, length) => {
        const near = parts.map((part, index) => (index < length >> 3 ? first[index]! : part));
        expect(contains(`${first.join('.')}/${length}`, near.join('.'))).toBe(
          bitsOf(first).slice(0, length) === bitsOf(near).slice(0, length),
        );
      }),
    );
  });
});
