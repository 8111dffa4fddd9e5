// The address that a request comes from, behind the operator's own proxies as well.
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { isInRange, readIpAddress, readIpRange } from '../../domain/ip-ranges.js';
import type { IpRange } from '../../domain/ip-ranges.js';

// More proxies than stand in a row anywhere. What a caller writes in front of them is not read.
const MAX_HOPS = 16;
// As some proxies write it: with a port, and IPv6 in brackets for it.
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d[\d.]*):\d{1,5})$/;

export type ReadAddress = (peer: string, forwardedFor: string | undefined) => string;

/**
 * Of the hops behind a trusted proxy the last one that is not trusted itself: whatever stands before it was written by
 * that one. A malformed hop says nothing, and neither does any before it: the address is that of the hop after it.
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
    return address;
  };
}

/** `request.ip`, which failed authentications and the audit log go by. Not Express's own: it takes any text for a hop. */
export function shareAddresses(application: NestExpressApplication, trustedProxies: readonly string[]): void {
  if (trustedProxies.length === 0) return;
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
