// The address of a request, also behind the operator's own proxies.
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { isInRange, readIpAddress, readIpRange } from '../../domain/ip-ranges.js';
import type { IpRange } from '../../domain/ip-ranges.js';

// More than any real chain of proxies. Hops that a caller adds in front of them are not read.
const MAX_HOPS = 16;
// Some proxies add a port, with IPv6 addresses in brackets.
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d[\d.]*):\d{1,5})$/;

export type ReadAddress = (peer: string, forwardedFor: string | undefined) => string;

/**
 * The last hop behind a trusted proxy that is not trusted itself, since that hop wrote everything before it. A
 * malformed hop and all before it are ignored: the address is that of the hop after it.
 */
export function addressReader(trustedProxies: readonly string[]): ReadAddress {
  const ranges = trustedProxies.map(readIpRange).filter((range): range is IpRange => range !== null);
  const isTrusted = (text: string): boolean => {
    const address = readIpAddress(text);
    return address !== null && ranges.some((range) => isInRange(address, range));
  };
  return (peer, forwardedFor) => {
    let address = peer;
    const hops = forwardedFor?.split(',').slice(-MAX_HOPS) ?? [];
    while (hops.length > 0 && isTrusted(address)) {
      const hop = hops.pop()?.trim() ?? '';
      const [, bracketed, before] = WITH_PORT.exec(hop) ?? [];
      const text = bracketed ?? before ?? hop;
      if (readIpAddress(text) === null) break;
      address = text;
    }
    return plain(address);
  };
}

// A socket that accepts both families shows IPv4 addresses in this form of IPv6.
const MAPPED = /^::ffff:(?=\d+\.)/i;

function plain(address: string): string {
  return address.replace(MAPPED, '');
}

/**
 * Sets `request.ip`, which rate limits, the audit log and the request log use. Express's own reader accepts any text as
 * a hop.
 */
export function shareAddresses(application: NestExpressApplication, trustedProxies: readonly string[]): void {
  const read = addressReader(trustedProxies);
  const { request } = application.getHttpAdapter().getInstance();
  Object.defineProperty(request, 'ip', {
    get(this: Request) {
      const forwardedFor = this.headers['x-forwarded-for'];
      return read(
        this.socket.remoteAddress ?? '',
        Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor,
      );
    },
  });
}
