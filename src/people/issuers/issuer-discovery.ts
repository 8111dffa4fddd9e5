// The metadata of an issuer: read at the first sign-in, kept for an hour, and read again after a failure with a
// growing pause. Nothing waits for it but sign-in.
import { allowInsecureRequests, customFetch, discovery } from 'openid-client';
import type { CustomFetch, ServerMetadata } from 'openid-client';
import { jitteredDelay } from '../../concurrency/backoff.js';
import type { SignInProviderConfig } from '../../config/sign-in-config.js';
import type { Clock } from '../../domain/clock.js';
import { IssuerUnavailable, reasonOf } from './issuer-errors.js';

const KEPT = 3_600_000;
/** The pause after a failure doubles with every one. */
const PAUSE = { base: 1_000, max: 30_000 };

export interface DiscoveryState {
  readonly state: 'untried' | 'ready' | 'failed';
  readonly checkedAt: Date | null;
  /** Null: it did not fail. */
  readonly problem: string | null;
}

export class IssuerDiscovery {
  private metadata: Readonly<ServerMetadata> | null = null;
  private inFlight: Promise<Readonly<ServerMetadata>> | null = null;
  private failures = 0;
  private nextAt = 0;
  private last: DiscoveryState = { state: 'untried', checkedAt: null, problem: null };

  constructor(
    private readonly config: Pick<SignInProviderConfig, 'issuer' | 'clientId'>,
    private readonly fetch: CustomFetch,
    private readonly clock: Clock,
  ) {}

  get state(): DiscoveryState {
    return this.last;
  }

  /** Throws IssuerUnavailable, at once while the pause after a failure lasts. */
  async find(): Promise<Readonly<ServerMetadata>> {
    if (this.inFlight !== null) return this.inFlight;
    const isDue = this.clock.now().getTime() >= this.nextAt;
    if (this.metadata !== null && !isDue) return this.metadata;
    if (!isDue) throw new IssuerUnavailable(this.last.problem ?? 'the issuer did not answer');
    this.inFlight = this.discover().finally(() => (this.inFlight = null));
    return this.inFlight;
  }

  private async discover(): Promise<Readonly<ServerMetadata>> {
    try {
      const metadata = await this.read();
      this.settle('ready', null);
      this.failures = 0;
      this.nextAt = this.clock.now().getTime() + KEPT;
      this.metadata = metadata;
      return metadata;
    } catch (error) {
      const problem = reasonOf(error);
      this.settle('failed', problem);
      this.metadata = null;
      this.nextAt = this.clock.now().getTime() + jitteredDelay(this.failures, PAUSE, 1);
      this.failures += 1;
      throw new IssuerUnavailable(problem, { cause: error });
    }
  }

  private async read(): Promise<Readonly<ServerMetadata>> {
    const { issuer, clientId } = this.config;
    const url = new URL(issuer);
    const found = await discovery(url, clientId, undefined, undefined, {
      [customFetch]: this.fetch,
      execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    // The library accepts a trailing slash, and Entra's template for any tenant.
    if (metadata.issuer !== issuer) {
      throw new Error(
        `the issuer calls itself ${JSON.stringify(metadata.issuer.slice(0, 500))}; configure exactly that`,
      );
    }
    for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
      if (metadata[endpoint] === undefined) throw new Error(`the issuer states no ${endpoint}`);
    return metadata;
  }

  private settle(state: DiscoveryState['state'], problem: string | null): void {
    this.last = { state, checkedAt: this.clock.now(), problem };
  }
}
