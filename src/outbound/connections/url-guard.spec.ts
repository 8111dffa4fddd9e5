// All spellings of forbidden addresses, and texts that are no address.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { ScriptedResolver } from '../../../test/support/app/name-resolver.js';
import { guardWith } from '../../../test/support/upstreams/url-guard.js';

const PUBLIC = '93.184.216.34';

describe('literal addresses', () => {
  const LOOPBACK = 'a loopback address';
  const PRIVATE = 'a private address';
  const LINK_LOCAL = 'a link-local address';
  const UNSPECIFIED = 'an unspecified address';
  const NOT_PUBLIC = 'an address that is not public';

  it.each([
    ['127.0.0.1', LOOPBACK],
    ['127.0.0.1:8080', LOOPBACK],
    ['127.255.255.254', LOOPBACK],
    ['127.1', LOOPBACK],
    ['127.0.1', LOOPBACK],
    ['127.0.0.1.', LOOPBACK],
    ['2130706433', LOOPBACK],
    ['2130706433.', LOOPBACK],
    ['0x7f000001', LOOPBACK],
    ['0X7F000001', LOOPBACK],
    ['0x7f.1', LOOPBACK],
    ['0x7f.0x0.0x0.0x1', LOOPBACK],
    ['017700000001', LOOPBACK],
    ['0177.0.0.1', LOOPBACK],
    ['0177.0.0.01', LOOPBACK],
    ['00000177.1', LOOPBACK],
    ['127.0x1', LOOPBACK],
    ['127.0.0x01', LOOPBACK],
    ['%31%32%37.0.0.1', LOOPBACK],
    ['127%2E0%2E0%2E1', LOOPBACK],
    ['１２７.０.０.１', LOOPBACK],
    ['①②⑦.⓪.⓪.①', LOOPBACK],
    ['127。0。0。1', LOOPBACK],
    ['127｡0｡0｡1', LOOPBACK],
    ['127．0．0．1', LOOPBACK],
    ['𝟭𝟮𝟳.𝟬.𝟬.𝟭', LOOPBACK],
    ['0', UNSPECIFIED],
    ['0.0.0.0', UNSPECIFIED],
    ['0x0', UNSPECIFIED],
    ['0x', UNSPECIFIED],
    ['000', UNSPECIFIED],
    ['0.0.0.1', UNSPECIFIED],
    ['10.0.0.1', PRIVATE],
    ['10.1', PRIVATE],
    ['167772161', PRIVATE],
    ['012.0.0.1', PRIVATE],
    ['172.16.0.1', PRIVATE],
    ['172.31.255.255', PRIVATE],
    ['0xac100001', PRIVATE],
    ['192.168.1.1', PRIVATE],
    ['192.168.257', PRIVATE],
    ['3232235777', PRIVATE],
    ['169.254.169.254', LINK_LOCAL],
    ['2852039166', LINK_LOCAL],
    ['0xa9fea9fe', LINK_LOCAL],
    ['0251.0376.0251.0376', LINK_LOCAL],
    ['169.16689662', LINK_LOCAL],
    ['100.64.0.1', 'a shared address of a provider'],
    ['100.100.100.200', 'a shared address of a provider'],
    ['168.63.129.16', 'a metadata address'],
    ['192.0.0.192', 'an address of the protocols themselves'],
    ['192.0.2.1', 'an address for documentation'],
    ['198.51.100.1', 'an address for documentation'],
    ['203.0.113.1', 'an address for documentation'],
    ['198.18.0.1', 'an address for benchmarks'],
    ['224.0.0.1', 'a multicast address'],
    ['239.255.255.250', 'a multicast address'],
    ['240.0.0.1', 'a reserved address'],
    ['255.255.255.255', 'a reserved address'],
    ['4294967295', 'a reserved address'],
    ['[::]', UNSPECIFIED],
    ['[::1]', LOOPBACK],
    ['[0:0:0:0:0:0:0:1]', LOOPBACK],
    ['[0000:0000:0000:0000:0000:0000:0000:0001]', LOOPBACK],
    ['[::0.0.0.1]', LOOPBACK],
    ['[::127.0.0.1]', LOOPBACK],
    ['[::7f00:1]', LOOPBACK],
    ['[::ffff:127.0.0.1]', LOOPBACK],
    ['[::FFFF:7F00:1]', LOOPBACK],
    ['[0:0:0:0:0:ffff:7f00:0001]', LOOPBACK],
    ['[::ffff:0:127.0.0.1]', LOOPBACK],
    ['[64:ff9b::127.0.0.1]', LOOPBACK],
    ['[64:ff9b::a9fe:a9fe]', LINK_LOCAL],
    ['[64:ff9b:0:0:0:0:10.0.0.1]', PRIVATE],
    ['[64:ff9b:1::127.0.0.1]', NOT_PUBLIC],
    ['[64:ff9b:1:7f00:0:100::]', NOT_PUBLIC],
    ['[2002:7f00:1::]', LOOPBACK],
    ['[2002:a9fe:a9fe::1]', LINK_LOCAL],
    ['[2002:c0a8:101::1]', PRIVATE],
    ['[2001:0:5db8:d822:0:0:80ff:fffe]', 'an address of the protocols themselves'],
    ['[2001:db8::1]', 'an address for documentation'],
    ['[fc00::1]', PRIVATE],
    ['[fd00:ec2::254]', PRIVATE],
    ['[fec0::1]', PRIVATE],
    ['[fe80::1]', LINK_LOCAL],
    ['[febf::1]', LINK_LOCAL],
    ['[ff02::1]', 'a multicast address'],
    ['[100::1]', NOT_PUBLIC],
    ['[5f00::1]', NOT_PUBLIC],
  ])('rejects https://%s/: it is %s', async (spelling, purpose) => {
    const resolver = new ScriptedResolver();
    expect(await guardWith(resolver).check(`https://${spelling}/path`, 'account')).toMatch(
      new RegExp(` is ${purpose}$`),
    );
    expect(resolver.asked).toEqual([]);
  });

  it.each([PUBLIC, '1572395042', '[2606:2800:220:1::1]', `[::ffff:${PUBLIC}]`, `[64:ff9b::${PUBLIC}]`])(
    'permits https://%s/, which is public',
    async (spelling) => {
      expect(await guardWith().check(`https://${spelling}/`, 'account')).toBeNull();
    },
  );

  it('decides alike for every spelling of an IPv4 address', async () => {
    const guard = guardWith();
    const purposeOf = async (host: string) =>
      (await guard.check(`https://${host}/`, 'account'))?.replace(/^\S+ /, '') ?? null;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.nat(0xffffffff),
          // Near the borders of the ranges more often than at random.
          fc
            .tuple(fc.constantFrom(10, 127, 100, 169, 172, 192, 198, 203, 224), fc.nat(255))
            .map(([a, b]) => a * 2 ** 24 + b * 2 ** 16),
        ),
        async (value) => {
          const parts = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
          const plain = await purposeOf(parts.join('.'));
          const [a, b, c, d] = parts as [number, number, number, number];
          const hex = value.toString(16);
          for (const spelling of [
            String(value),
            `0x${hex}`,
            `0${value.toString(8)}`,
            parts.map((part) => `0x${part.toString(16)}`).join('.'),
            parts.map((part) => `0${part.toString(8)}`).join('.'),
            `${a}.${b * 65_536 + c * 256 + d}`,
            `${a}.${b}.${c * 256 + d}`,
            `${parts.join('.')}.`,
            `[::ffff:${parts.join('.')}]`,
            `[64:ff9b::${parts.join('.')}]`,
            `[2002:${hex.padStart(8, '0').replace(/.{4}/, '$&:')}::]`,
          ]) {
            expect({ spelling, purpose: await purposeOf(spelling) }).toEqual({ spelling, purpose: plain });
          }
        },
      ),
    );
  });
});

describe('text that is not an address', () => {
  const NOT_ABSOLUTE = 'an address is not an absolute http or https URL';
  it.each([
    '',
    'https://',
    'https:///path',
    'https:example.com',
    'https:/example.com',
    '//example.com',
    'example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'javascript:alert(1)',
    'https://?x',
    'https://#x',
    'https:\\\\example.com',
    'https://example.com\\@127.0.0.1',
    ' https://example.com',
    'https://example.com ',
    'https://exa mple.com',
    'https://exa\tmple.com',
    'https://example.com\r\nx: y',
    'https://example.com/\u0000',
    'https://127.0.0.1\u2028/',
    'https://[fe80::1%25eth0]/',
    'https://[::1',
    'https://[127.0.0.1]/',
    'https://256.0.0.1/',
    'https://4294967296/',
    'https://1.2.3.4.5/',
    'https://127.0.0.08/',
    'https://example.com:65536/',
    'https://localhost%00/',
  ])('rejects %j', async (address) => {
    expect(await guardWith().check(address, 'account')).toBe(NOT_ABSOLUTE);
    expect(guardWith().read(address)).toBe(NOT_ABSOLUTE);
  });

  it.each(['https://user:s3cret@example.com/', 'https://user@example.com', 'https://:s3cret@example.com'])(
    'rejects the credentials of %s without repeating them',
    async (address) => {
      const problem = 'example.com must not have a user name or password';
      expect(await guardWith().check(address, 'account')).toBe(problem);
      expect(guardWith().read(address)).toBe(problem);
    },
  );

  it('rejects an address of more than 2048 characters', async () => {
    const ofLength = (length: number) => `https://${PUBLIC}/`.padEnd(length, 'x');
    expect(await guardWith().check(ofLength(2_048), 'account')).toBeNull();
    expect(await guardWith().check(ofLength(2_049), 'account')).toBe(
      'an address has more than 2048 characters',
    );
  });
});
