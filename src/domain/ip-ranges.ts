// IP addresses and ranges: resolves the forms that embed another address, and recognises addresses outside the public
// internet.
//
// Why not ipaddr.js: it reads a mapped address as an IPv4 address, but no other form (`::127.0.0.1` is public to it), and
// its special ranges lack 3fff::/20 and the metadata address 168.63.129.16.
import { isIP } from 'node:net';

export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export interface IpRange {
  readonly family: 4 | 6;
  /** The common prefix of all addresses of the range, and the number of bits behind it. */
  readonly prefix: bigint;
  readonly suffixLength: bigint;
}

// Source: the IANA registries of special-purpose IPv4 and IPv6 addresses.
const SPECIAL_PURPOSES = [
  ['an unspecified address', '0.0.0.0/8', '::/128'],
  ['a loopback address', '127.0.0.0/8', '::1/128'],
  ['a private address', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  ['a shared address of a provider', '100.64.0.0/10'],
  ['a link-local address', '169.254.0.0/16', 'fe80::/10'],
  // Azure's metadata address is within the public ranges. Those of other clouds are link-local, private or shared.
  ['a metadata address', '168.63.129.16/32'],
  ['an address of the protocols themselves', '192.0.0.0/24', '192.88.99.0/24', '2001::/23'],
  [
    'an address for documentation',
    '192.0.2.0/24',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '2001:db8::/32',
    '3fff::/20',
  ],
  ['an address for benchmarks', '198.18.0.0/15'],
  ['a multicast address', '224.0.0.0/4', 'ff00::/8'],
  ['a reserved address', '240.0.0.0/4'],
].flatMap(([name = '', ...ranges]) => ranges.map((text) => ({ name, range: rangeAsWritten(text) })));

// All IPv6 addresses that are assigned for use between networks.
const GLOBAL_UNICAST = rangeAsWritten('2000::/3');

// IPv6 forms of an IPv4 address, with the number of bits behind it: mapped, translated, compatible, NAT64, 6to4. Teredo
// is absent because 2001::/23 is refused as a whole. NAT64's local prefix 64:ff9b:1::/48 is absent because each network
// chooses the position of the IPv4 address.
const EMBEDDINGS = [
  { range: rangeAsWritten('::ffff:0:0/96'), behind: 0n },
  { range: rangeAsWritten('::ffff:0:0:0/96'), behind: 0n },
  { range: rangeAsWritten('::/96'), behind: 0n },
  { range: rangeAsWritten('64:ff9b::/96'), behind: 0n },
  { range: rangeAsWritten('2002::/16'), behind: 80n },
];

/** Null for text that is not an address. An IPv6 form of an IPv4 address is read as the IPv4 address. */
export function readIpAddress(text: string): IpAddress | null {
  const address = addressAsWritten(text);
  // `::` and `::1` are in the compatible range, but are addresses of their own.
  if (address === null || address.family === 4 || address.value <= 1n) return address;
  const embedding = EMBEDDINGS.find(({ range }) => isInRange(address, range));
  if (embedding === undefined) return address;
  return { family: 4, value: BigInt.asUintN(32, address.value >> embedding.behind) };
}

/** Reads `10.0.0.0/8`; null for text that is not a range. A range of mapped addresses becomes an IPv4 range. */
export function readIpRange(text: string): IpRange | null {
  const [address = '', bits = '', ...rest] = text.split('/');
  const first = addressAsWritten(address);
  const length = first?.family === 4 ? 32 : 128;
  if (first === null || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > length) return null;
  const range = rangeAsWritten(text);
  const isMapped = range.family === 6 && range.suffixLength <= 32n && first.value >> 32n === 0xffffn;
  return isMapped
    ? {
        family: 4,
        prefix: BigInt.asUintN(32, first.value) >> range.suffixLength,
        suffixLength: range.suffixLength,
      }
    : range;
}

export function isInRange(address: IpAddress, range: IpRange): boolean {
  return address.family === range.family && address.value >> range.suffixLength === range.prefix;
}

/** The special purpose of an address, such as "a loopback address". Null for a public one. */
export function specialPurposeOf(address: IpAddress): string | null {
  const special = SPECIAL_PURPOSES.find(({ range }) => isInRange(address, range));
  if (special) return special.name;
  return address.family === 4 || isInRange(address, GLOBAL_UNICAST) ? null : 'an address that is not public';
}

/** `text` must be a range. */
function rangeAsWritten(text: string): IpRange {
  const [address = '', bits = ''] = text.split('/');
  const { family, value } = addressAsWritten(address) ?? { family: 6, value: 0n };
  const suffixLength = BigInt((family === 4 ? 32 : 128) - Number(bits));
  return { family, prefix: value >> suffixLength, suffixLength };
}

function addressAsWritten(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 4) return { family, value: joined(text.split('.').map(Number), 8n) };
  if (family === 6) return { family, value: ipv6Value(text) };
  return null;
}

/** `text` must be an IPv6 address. */
function ipv6Value(text: string): bigint {
  const [withoutZone = ''] = text.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const zeros = Array<number>(8 - front.length - back.length).fill(0);
  return joined([...front, ...zeros, ...back], 16n);
}

/** The groups of 16 bits; an IPv4 address at the end counts as two. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}
