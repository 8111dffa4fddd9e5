// Tokens of credentials that are exchanged before a call (docs/contract.md#gemini-providers). One exchange a credential at a time, and
// none while its token lives. Tokens are in no log and no record.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { HttpClient } from '../../outbound/http-client.js';
import type { ProviderConnection } from '../../providers/shared/provider.js';
import { UnusableKey } from '../../providers/shared/token-exchange.js';
import type { TokenExchange } from '../../providers/shared/token-exchange.js';
import { readUpstreamError } from '../../providers/shared/upstream-error.js';
import { connectionOf } from '../endpoints/endpoint-caller.js';
import type { ServingTarget } from '../endpoint-target.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { failureOfResponse, failureOfThrown } from '../failures/exchange-failures.js';
import type { InnerNames } from '../failures/provider-words.js';

const MAX_TOKENS = 2_000;
// Milliseconds.
const EXCHANGE_TIMEOUT = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
// Seconds before the end of a token in which it is not used any more.
const MARGIN = 300;
/** The address refuses the credential itself. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403]);

interface Exchange {
  readonly tokens: TokenExchange;
  readonly apiKey: string;
  readonly operatorKey: string | undefined;
  readonly names: InnerNames;
}

@Injectable()
export class AccessTokens {
  /** By a hash of the key. */
  private readonly cache = new LRUCache<string, string, Exchange>({
    max: MAX_TOKENS,
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { options, context }) => {
      const { token, lifetime } = await this.exchange(context);
      // A token that ends before its margin serves the calls that wait for it.
      options.ttl = Math.max(1, (lifetime - MARGIN) * 1_000);
      return token;
    },
  });

  constructor(
    private readonly http: HttpClient,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** `names`: of the target. Throws EndpointFailure where the credential gives no token. */
  async connectionTo(target: ServingTarget, names: InnerNames): Promise<ProviderConnection> {
    const connection = connectionOf(names);
    const { apiKey } = connection;
    const tokens = tokensOf(target);
    if (tokens === undefined || apiKey === undefined) return connection;
    const operatorKey = this.config.providers.get(target.provider.slug)?.apiKey;
    const context = { tokens, apiKey, operatorKey, names };
    const accessToken = await this.cache.fetch(keyOf(target, apiKey), { context });
    return accessToken === undefined ? connection : { ...connection, accessToken };
  }

  /** The provider refuses the token before its end. */
  forget(target: ServingTarget, { apiKeys: [apiKey] }: InnerNames): void {
    if (apiKey !== undefined && tokensOf(target) !== undefined) this.cache.delete(keyOf(target, apiKey));
  }

  private async exchange({ tokens, apiKey, operatorKey, names }: Exchange) {
    try {
      const request = await tokens.buildRequest(apiKey, operatorKey, this.clock.now());
      const response = await this.http.send(request, {
        timeout: EXCHANGE_TIMEOUT,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      });
      const { status } = response;
      if (REFUSED.has(status)) throw new EndpointFailure('credential', status, 'no token for the credential');
      if (status < 200 || status >= 300)
        throw failureOfResponse({ readError: readUpstreamError }, response, names, this.clock.now());
      const token = tokens.readToken(response);
      if (token === null) throw new EndpointFailure('broken', status, 'the answer has no token');
      return token;
    } catch (error) {
      if (error instanceof UnusableKey) throw new EndpointFailure('credential', null, error.message);
      throw failureOfThrown(error, names);
    }
  }
}

function tokensOf({ provider }: ServingTarget): TokenExchange | undefined {
  return 'tokens' in provider ? provider.tokens : undefined;
}

function keyOf({ provider }: ServingTarget, apiKey: string): string {
  return createHash('sha256').update(`${provider.slug} ${apiKey}`).digest('base64url');
}
