// Exchanges the token of an issuer for an access token of a key (docs/contract.md#workload-identity).
import { Injectable, Logger } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Counter } from 'prom-client';
import { RateLimiter } from '../auth/rate-limiter.js';
import { Metrics } from '../config/metrics.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { MAX_LIVE_TOKENS_PER_KEY } from '../domain/federation/federation-policy.js';
import { createAccessToken, hashKeySecret, SECRET_PREFIX } from '../domain/keys/api-key.js';
import { rateLimitExceeded } from '../domain/rate-limit.js';
import { AccessTokensRepository } from '../persistence/federation/access-tokens.repository.js';
import { FederationPoliciesRepository } from '../persistence/federation/federation-policies.repository.js';
import type { PolicyForExchange } from '../persistence/federation/federation-policies.repository.js';
import { ACCESS_TOKEN, INFERENCE, TOKEN_EXCHANGE } from './dto/token-exchange.dto.js';
import type { AccessTokenDto, TokenExchangeDto } from './dto/token-exchange.dto.js';
import { SubjectTokens } from './subject-tokens.js';

const RESULTS = ['issued', 'refused', 'limited', 'unavailable'] as const;
type Result = (typeof RESULTS)[number];

/** Where a request comes from. */
interface Origin {
  readonly address: string;
  readonly requestId: string;
}

@Injectable()
export class TokenExchangeService {
  private readonly logger = new Logger(TokenExchangeService.name);
  private readonly exchanges;

  constructor(
    private readonly policies: FederationPoliciesRepository,
    private readonly subjectTokens: SubjectTokens,
    private readonly accessTokens: AccessTokensRepository,
    private readonly rateLimiter: RateLimiter,
    private readonly clock: Clock,
    { registry }: Metrics,
  ) {
    this.exchanges = new Counter({
      name: 'signalbox_token_exchanges_total',
      help: 'Exchanges of tokens of issuers for access tokens, by result.',
      labelNames: ['result'],
      registers: [registry],
    });
    // Every series starts at 0: Prometheus sees no increase in a series that begins with its first event.
    for (const result of RESULTS) this.exchanges.inc({ result }, 0);
  }

  async exchange(form: TokenExchangeDto, origin: Origin): Promise<AccessTokenDto> {
    requireWord(form.grant_type, TOKEN_EXCHANGE, 'unsupported_grant_type', 'grant_type');
    requireWord(form.scope ?? INFERENCE, INFERENCE, 'invalid_scope', 'scope');
    try {
      const issued = await this.issue(form, origin);
      this.exchanges.inc({ result: 'issued' });
      return issued;
    } catch (error) {
      this.exchanges.inc({ result: resultOf(error) });
      throw error;
    }
  }

  private async issue(
    { subject_token: subjectToken, federation_policy_id: policyId }: TokenExchangeDto,
    origin: Origin,
  ): Promise<AccessTokenDto> {
    // A secret of this service proves no identity: an access token would live for ever by its own exchanges.
    if (subjectToken.startsWith(SECRET_PREFIX))
      return this.refuse(policyId, 'a secret of this service', origin, 'invalid_credential');
    const policy = isUUID(policyId) ? await this.policies.findForExchange(policyId.toLowerCase()) : null;
    if (!policy?.enabled) return this.refuse(policyId, 'no such policy, or a disabled one', origin);
    const verified = await this.subjectTokens.verify(policy, subjectToken);
    if ('problem' in verified) return this.refuse(policyId, verified.problem, origin);
    const now = this.clock.now();
    const seconds = secondsFor(policy, verified.expiresAt, now);
    if (seconds <= 0) return this.refuse(policyId, 'expired', origin);
    await this.rateLimiter.consumeExchange(policy.id);
    const token = createAccessToken();
    const expiresAt = new Date(now.getTime() + seconds * 1_000);
    const issue = await this.accessTokens.issue(policy, {
      hash: hashKeySecret(token),
      issuedAt: now,
      expiresAt,
    });
    if (issue === 'changed') return this.refuse(policyId, 'the policy or its key does not allow it', origin);
    if (issue === 'full') throw tooManyTokens(policy, now);
    return {
      access_token: token,
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: seconds,
      scope: INFERENCE,
    };
  }

  /** One text for all failures: it must not help to find a policy, or a token that it takes. */
  private async refuse(
    policyId: string,
    reason: string,
    { address, requestId }: Origin,
    code: 'invalid_request' | 'invalid_credential' = 'invalid_request',
  ): Promise<never> {
    const policy = isUUID(policyId) ? policyId : null;
    // First: beyond the limit of the address nothing is logged.
    await this.rateLimiter.countFailedAuthentication(address);
    this.logger.warn({ policy, reason, requestId }, 'refused to exchange a token');
    throw new AppError(code, { errorType: 'invalid_grant', detail: 'the subject token is not accepted' });
  }
}

/** Whole seconds until the end of the policy's time, of the presented token or of the key, whichever is first. */
function secondsFor({ maxTtlSeconds, keyExpiresAt }: PolicyForExchange, tokenEnd: Date, now: Date): number {
  const ends = [tokenEnd, ...(keyExpiresAt ? [keyExpiresAt] : [])].map((end) => end.getTime());
  return Math.min(maxTtlSeconds, Math.floor((Math.min(...ends) - now.getTime()) / 1_000));
}

function requireWord(value: string, known: string, errorType: string, member: string): void {
  if (value !== known)
    throw new AppError('invalid_request', { errorType, member, detail: `must be ${known}` });
}

/** Tokens end all the time: the wait is the share of one in the longest life. */
function tooManyTokens({ maxTtlSeconds }: PolicyForExchange, now: Date): AppError {
  return rateLimitExceeded({
    limit: MAX_LIVE_TOKENS_PER_KEY,
    retryAfter: (maxTtlSeconds * 1_000) / MAX_LIVE_TOKENS_PER_KEY,
    now,
    detail: (seconds) =>
      `the key has ${MAX_LIVE_TOKENS_PER_KEY} live access tokens, which is the limit; share one among jobs, or try again in ${seconds} s`,
  });
}

function resultOf(error: unknown): Result {
  const status = error instanceof AppError ? error.status : 500;
  if (status === 429) return 'limited';
  return status >= 500 ? 'unavailable' : 'refused';
}
