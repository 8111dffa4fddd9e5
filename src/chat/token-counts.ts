// Counts the tokens of a prompt without a call: by the provider's own counter, else here. It costs nothing.
import { Injectable, Logger } from '@nestjs/common';
import { Cancellation } from '../concurrency/cancellation.js';
import type { Pace } from '../concurrency/yield-queue.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from '../config/app-config.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import { HttpClient } from '../outbound/http-client.js';
import { ChatPlanner } from '../routing/chat/chat-planner.js';
import { AccessTokens } from '../routing/credentials/access-tokens.js';
import { EndpointCaller } from '../routing/endpoints/endpoint-caller.js';
import type { ChatTarget } from '../routing/endpoint-target.js';
import { SpendLimiter } from '../spend/spend-limiter.js';
import { ChatMetrics } from './chat-metrics.js';
import type { CountSource } from './chat-metrics.js';
import { countPrompt } from './charges/counted-prompt.js';
import { measurePrompt } from './charges/prompt-size.js';
import type { ReadChat } from './request/read-chat-request.js';

// Coding agents wait for a count before they call.
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 65_536;
// Tokenizers that are not known make more tokens of a text: a low count makes agents compact their history too late.
const UNKNOWN_TOKENIZER = 1.2;

export interface CountedTokens {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

@Injectable()
export class TokenCounts {
  private readonly logger = new Logger('TokenCounts');

  constructor(
    private readonly planner: ChatPlanner,
    private readonly limiter: SpendLimiter,
    private readonly endpoints: EndpointCaller,
    private readonly tokens: AccessTokens,
    private readonly http: HttpClient,
    private readonly yieldQueue: YieldQueue,
    private readonly config: AppConfig,
    private readonly metrics: ChatMetrics,
  ) {}

  /** Of the first endpoint that may serve the request. */
  async count(caller: GuardedCaller, { request, preferences }: ReadChat): Promise<CountedTokens> {
    const limits = await this.limiter.limitsOf(caller);
    const plan = { caller, request, sessionId: request.sessionId, preferences, limits };
    const [target] = (await this.planner.plan(plan)).targets;
    if (!target) throw new Error('a plan has a target');
    const counted = await this.countUpstream(target, request);
    this.metrics.countedTokens(typeof counted === 'number' ? 'provider' : counted);
    if (typeof counted === 'number') return { tokens: counted, isEstimated: false };
    const pace = this.yieldQueue.begin(caller.key.accountId);
    return { tokens: await estimate(target, request, pace), isEstimated: true };
  }

  private async countUpstream(
    target: ChatTarget,
    request: ReadChat['request'],
  ): Promise<number | Exclude<CountSource, 'provider'>> {
    const counter = 'protocol' in target.wire ? target.wire.counter : undefined;
    if (counter === undefined) return 'estimated';
    const call = { request, endpoint: target.endpoint, maxOutputTokens: null };
    try {
      const connection = await this.tokens.connectionTo(target, this.endpoints.namesOf(target));
      const built = await counter.buildRequest(call, connection);
      if (built === null) return 'estimated';
      const { body, edits: _edits, ...sent } = built;
      const response = await this.http.send(
        { ...sent, body: Buffer.concat(body) },
        {
          timeout: Math.min(TIMEOUT_MS, this.config.chat.headersTimeout),
          maxResponseBytes: MAX_RESPONSE_BYTES,
          signal: new Cancellation(),
        },
      );
      const counted = response.status === 200 ? counter.readCount(response) : null;
      return counted ?? 'failed';
    } catch (error) {
      this.logger.warn({ error, provider: target.provider.slug }, 'failed to count tokens; estimates them');
      return 'failed';
    }
  }
}

async function estimate(target: ChatTarget, request: ReadChat['request'], pace: Pace): Promise<number> {
  const size = await measurePrompt(request, pace);
  const counted = await countPrompt(request, size, target, pace);
  return target.model.tokenizer === null ? Math.ceil(counted * UNKNOWN_TOKENIZER) : counted;
}
