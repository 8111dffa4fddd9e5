// Decides which addresses the requests of a destination may use: public ones over https, and ranges that the operator
// opened.
import { Injectable } from '@nestjs/common';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../concurrency/with-timeout.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { isInRange, readIpAddress, readIpRange, specialPurposeOf } from '../../domain/ip-ranges.js';
import type { IpRange } from '../../domain/ip-ranges.js';
import { OutboundFailure, OutboundRejected } from '../exchange/exchange.js';
import { NameResolver } from './name-resolver.js';

const MAX_LENGTH = 2_048;
// URL parsers disagree on blanks, control characters, backslashes and missing slashes, and no valid address has them.
const ABSOLUTE = /^https?:\/\/[^\s\p{C}\\/?#][^\s\p{C}\\]*$/iu;
// Milliseconds.
const LOOKUP_TIMEOUT = 1_000;
const PASSED_TIME_TO_LIVE = 5_000;
const MAX_PASSED = 1_000;

@Injectable()
export class UrlGuard {
  private readonly opened: readonly IpRange[];
  /** Origins whose host has passed `check` recently. Connections never read it. */
  private readonly passed: LRUCache<string, true>;

  constructor(
    config: AppConfig,
    private readonly resolver: NameResolver,
    clock: Clock,
  ) {
    this.passed = new LRUCache({
      max: MAX_PASSED,
      ttl: PASSED_TIME_TO_LIVE,
      ttlResolution: 0,
      perf: { now: () => clock.now().getTime() },
    });
    this.opened = config.destinationAllowedCidrs.map(readIpRange).filter((range) => range !== null);
  }

  /**
   * Returns the problem of an address for requests; null: none. A name that does not resolve passes, because it may
   * resolve later: every connection is checked again.
   */
  async check(address: string, account: string): Promise<string | null> {
    if (address.length > MAX_LENGTH) return `an address has more than ${MAX_LENGTH} characters`;
    const url = this.read(address);
    if (typeof url === 'string') return url;
    const { protocol, origin } = url;
    const host = hostOf(url);
    if (this.passed.has(origin)) return null;
    const addresses = await this.resolveInTime(host, account);
    if (addresses === null) {
      return protocol === 'http:' && this.opened.length === 0 ? needsHttps(host) : null;
    }
    const problem = this.problemOf(protocol, host, addresses);
    if (problem === null) this.passed.set(origin, true);
    return problem;
  }

  /** Parses an address before its host is checked; returns the problem if it is not usable. */
  read(address: string): URL | string {
    if (!ABSOLUTE.test(address) || !URL.canParse(address))
      return 'an address is not an absolute http or https URL';
    const url = new URL(address);
    if (url.username === '' && url.password === '') return url;
    return `${hostOf(url)} must not have a user name or password`;
  }

  /** Returns all addresses of a host if every single one is permitted. Throws OutboundRejected or OutboundFailure. */
  async resolve(protocol: string, host: string, account: string): Promise<readonly LookupAddress[]> {
    const addresses = await this.resolver.resolve(host, account);
    if (addresses.length === 0) throw new OutboundFailure(`${host} has no address`);
    for (const { address } of addresses) this.requirePermission(protocol, host, address);
    return addresses;
  }

  /** Throws OutboundRejected when this address of the host is not permitted. */
  requirePermission(protocol: string, host: string, address: string): void {
    const problem = this.problemOf(protocol, host, [address]);
    if (problem !== null) throw new OutboundRejected(problem);
  }

  /** Never names the addresses of a host: they would reveal the operator's network to a caller. */
  private problemOf(protocol: string, host: string, addresses: readonly string[]): string | null {
    for (const text of addresses) {
      const address = readIpAddress(text);
      if (address === null) return `${host} leads to an invalid IP address`;
      if (this.opened.some((range) => isInRange(address, range))) continue;
      const purpose = specialPurposeOf(address);
      if (purpose !== null) return `${host} ${isIP(host) === 0 ? 'leads to' : 'is'} ${purpose}`;
      if (protocol !== 'https:') return needsHttps(host);
    }
    return null;
  }

  /** Null when the host has no address, or none within the time-out. */
  private async resolveInTime(host: string, account: string): Promise<readonly string[] | null> {
    if (isIP(host) !== 0) return [host];
    try {
      const addresses = await withTimeout(this.resolver.resolve(host, account), LOOKUP_TIMEOUT, () => []);
      return addresses.length === 0 ? null : addresses.map(({ address }) => address);
    } catch {
      return null;
    }
  }
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function needsHttps(host: string): string {
  return `${host} needs https`;
}
