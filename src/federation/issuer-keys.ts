// The public keys of issuers: those of a policy, or those that its address publishes. The address is a tenant's choice: it is
// fetched like a destination, within bounds of time and size, and cached.
import { Injectable, Logger } from '@nestjs/common';
import { createLocalJWKSet } from 'jose';
import { LRUCache } from 'lru-cache';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { FederationPolicy, PublicKeySet } from '../domain/federation/federation-policy.js';
import { readPublishedKeys } from '../domain/federation/public-keys.js';
import { DestinationClient } from '../outbound/destination-client.js';

// Milliseconds.
const TIMEOUT = 5_000;
const TIME_TO_LIVE = 300_000;
// Between two fetches of an address for keys that it did not publish: an issuer that rotates its keys publishes the new one
// first, and any caller can name a key.
const UNKNOWN_KEY_INTERVAL = 60_000;
// Between two fetches of an address that fails.
const FAILURE_INTERVAL = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_ADDRESSES = 1_000;

/** Finds the key of a token's header; throws one of jose's errors when there is none. */
export type FindKey = ReturnType<typeof createLocalJWKSet>;

interface Fetched {
  readonly find: FindKey;
  readonly kids: ReadonlySet<string>;
  readonly at: number;
}

interface Address {
  fetched: Fetched | null;
  attemptedAt: number;
  fetching: Promise<void> | null;
}

@Injectable()
export class IssuerKeys {
  private readonly logger = new Logger(IssuerKeys.name);
  private readonly addresses = new LRUCache<string, Address>({ max: MAX_ADDRESSES });

  constructor(
    private readonly client: DestinationClient,
    private readonly clock: Clock,
  ) {}

  /** Throws `unavailable` while the address of the policy publishes none. */
  async find({ accountId, jwks, jwksUrl }: FederationPolicy, kid: string): Promise<FindKey> {
    if (jwks !== null) return keySetOf(jwks);
    // By account: no tenant learns what another one has fetched.
    const id = `${accountId} ${jwksUrl}`;
    const address = this.addresses.get(id) ?? { fetched: null, attemptedAt: -Infinity, fetching: null };
    this.addresses.set(id, address);
    if (this.isDue(address, kid)) await this.fetch(address, accountId, jwksUrl ?? '');
    const { fetched } = address;
    if (fetched && this.now() - fetched.at < TIME_TO_LIVE) return fetched.find;
    throw new AppError('unavailable', {
      detail: "the issuer's keys cannot be read",
      headers: { 'Retry-After': String(FAILURE_INTERVAL / 1_000) },
    });
  }

  private isDue({ fetched, attemptedAt, fetching }: Address, kid: string): boolean {
    if (fetching) return fetched === null || !fetched.kids.has(kid);
    const now = this.now();
    if (fetched === null || now - fetched.at >= TIME_TO_LIVE) return now - attemptedAt >= FAILURE_INTERVAL;
    return !fetched.kids.has(kid) && now - attemptedAt >= UNKNOWN_KEY_INTERVAL;
  }

  /** Requests of the same time share one. */
  private fetch(address: Address, accountId: string, url: string): Promise<void> {
    address.fetching ??= this.read(address, accountId, url).finally(() => {
      address.fetching = null;
    });
    return address.fetching;
  }

  private async read(address: Address, accountId: string, url: string): Promise<void> {
    address.attemptedAt = this.now();
    try {
      const { status, body } = await this.client.send(
        { method: 'GET', url, headers: { accept: 'application/json', 'accept-encoding': 'identity' } },
        { timeout: TIMEOUT, maxResponseBytes: MAX_BYTES, accountId },
      );
      if (status !== 200) throw new Error(`status ${status}`);
      const keys = readPublishedKeys(JSON.parse(body.toString('utf8')));
      if (keys === null) throw new Error('no set of keys');
      const kids = new Set(keys.keys.map(({ kid }) => kid ?? ''));
      address.fetched = { find: keySetOf(keys), kids, at: this.now() };
    } catch (error) {
      this.logger.warn({ reason: (error as Error).message }, "failed to read an issuer's keys");
    }
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}

function keySetOf({ keys }: PublicKeySet): FindKey {
  return createLocalJWKSet({ keys: keys.map((key) => ({ ...key })) });
}
