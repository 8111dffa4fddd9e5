// One call to one endpoint: asks, waits, reads, and lets nothing but whole, right vectors through.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { maskSecret } from '../../domain/text/masking.js';
import { retryAfterOf } from '../../domain/retry-after.js';
import { isZeroVector, truncateAndNormalise, vectorValues, vectorWidth } from '../../vectors/vectors.js';
import type { Vector } from '../../vectors/vectors.js';
import { BrokenAnswer, UnsupportedRequest } from '../../providers/shared/provider.js';
import type {
  EmbeddingProvider,
  HttpEmbeddingProvider,
  LocalEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
  UpstreamResponse,
} from '../../providers/shared/provider.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';
import { HttpClient, OutboundFailure, OutboundTimeout } from '../../outbound/http-client.js';
import { EndpointFailure, failureOfStatus } from './endpoint-failure.js';
import type { EndpointTarget } from './endpoint-target.js';

// Room for an input's vector at 16,000 numbers of 25 characters, and for what stands around them.
const MAX_BYTES_PER_INPUT = 400_000;
const MAX_BYTES_AROUND = 1_000_000;
// Inputs. A local model takes milliseconds for more.
const LARGE_LOCAL_CALL = 64;
// Reading a larger answer takes milliseconds: answers that arrive together are read one per turn.
const LARGE_ANSWER = { inputs: 256, bytes: 1024 * 1024 } as const;

export interface CallLimits {
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: CancelSignal;
  /** Of the caller: long work of different accounts alternates. */
  readonly accountId: string;
}

@Injectable()
export class EndpointCaller {
  constructor(
    private readonly http: HttpClient,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Whether the operator has said enough to call this provider. */
  isConfigured(provider: EmbeddingProvider): boolean {
    if (provider.transport === 'local') return true;
    return (
      this.hasAddress(provider) && (!provider.needsApiKey || this.settingsOf(provider)?.apiKey !== undefined)
    );
  }

  /** Whether a customer's own key is all that is missing. */
  hasAddress(provider: EmbeddingProvider): boolean {
    return (
      provider.transport === 'http' &&
      (this.settingsOf(provider)?.baseUrl ?? provider.defaultBaseUrl) !== null
    );
  }

  /** `input` is the part of the request's that this call is for. Throws EndpointFailure. */
  async call(
    target: EndpointTarget,
    request: EmbeddingRequest,
    input: EmbeddingInput,
    limits: CallLimits,
  ): Promise<ProviderAnswer> {
    const { model, endpoint, provider } = target;
    const width = request.dimensions ?? model.nativeDimensions;
    const call: ProviderCall = {
      upstreamModel: endpoint.upstreamModel,
      input,
      encodingFormat: request.encodingFormat,
      extra: request.extra,
      // The native width is never asked for: some upstreams refuse the member even then.
      dimensions: endpoint.takesDimensions && width !== model.nativeDimensions ? width : undefined,
      inputType: request.inputType,
      listedInputTypes: endpoint.inputTypes,
      user: request.user,
    };
    try {
      const answer =
        provider.transport === 'local'
          ? await this.computeHere(provider, call, limits)
          : await this.askUpstream(provider, target, call, limits);
      const vectors = checkVectors(answer, target, input.items.length, width);
      return vectors === answer.vectors ? answer : { ...answer, vectors };
    } catch (error) {
      throw toEndpointFailure(error);
    }
  }

  private async computeHere(
    provider: LocalEmbeddingProvider,
    call: ProviderCall,
    { accountId }: CallLimits,
  ): Promise<ProviderAnswer> {
    const work = this.yieldQueue.begin(accountId);
    if (call.input.items.length > LARGE_LOCAL_CALL) await work.yieldNow();
    return provider.embed(call, work);
  }

  private async askUpstream(
    provider: HttpEmbeddingProvider,
    { credential }: EndpointTarget,
    call: ProviderCall,
    limits: CallLimits,
  ): Promise<ProviderAnswer> {
    const settings = this.settingsOf(provider);
    const apiKey = credential?.apiKey ?? settings?.apiKey;
    const built = provider.buildRequest(call, {
      baseUrl: settings?.baseUrl ?? provider.defaultBaseUrl ?? '',
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    const response = await this.http.send(built instanceof Promise ? await built : built, {
      timeout: limits.timeout,
      signal: limits.signal,
      maxResponseBytes: call.input.items.length * MAX_BYTES_PER_INPUT + MAX_BYTES_AROUND,
    });
    if (response.status >= 200 && response.status < 300) {
      if (isLarge(response, call)) await this.yieldQueue.enter(limits.accountId);
      return provider.readAnswer(response, call);
    }
    const { message, code, kind, retryAfter } = provider.readError(response);
    // An upstream may repeat the key that it refuses.
    const withoutKey = (text: string): string =>
      apiKey === undefined ? text : text.replaceAll(apiKey, maskSecret(apiKey));
    throw new EndpointFailure(
      kind ?? failureOfStatus(response.status),
      response.status,
      withoutKey(message),
      {
        code: code === null ? null : withoutKey(code),
        retryAfter: retryAfter ?? retryAfterOf(response.headers, this.clock.now()),
      },
    );
  }

  private settingsOf(provider: EmbeddingProvider) {
    return this.config.providers.get(provider.slug);
  }
}

function isLarge({ body }: UpstreamResponse, { input }: ProviderCall): boolean {
  return input.items.length > LARGE_ANSWER.inputs || body.length > LARGE_ANSWER.bytes;
}

function toEndpointFailure(error: unknown): unknown {
  if (error instanceof UnsupportedRequest)
    return new EndpointFailure('refused', null, error.message, { unsupported: error });
  if (error instanceof BrokenAnswer)
    return new EndpointFailure('broken', null, error.message, { cause: error });
  if (error instanceof OutboundTimeout)
    return new EndpointFailure('timeout', null, error.message, { cause: error });
  if (error instanceof OutboundFailure)
    return new EndpointFailure('failed', null, error.message, { cause: error });
  return error;
}

/** The invariant: N inputs, N vectors, in order, finite, all of the wanted width, none of zeros alone. */
function checkVectors(
  answer: ProviderAnswer,
  { model, endpoint }: EndpointTarget,
  inputs: number,
  width: number,
): readonly Vector[] {
  const { vectors } = answer;
  if (vectors.length !== inputs) {
    throw broken(answer, `${vectors.length} vectors came back for ${inputs} inputs`);
  }
  const expected = endpoint.takesDimensions ? width : model.nativeDimensions;
  if (expected < width) {
    throw broken(answer, `vectors of ${expected} cannot become vectors of ${width}`);
  }
  for (const vector of vectors) {
    const found = vectorWidth(vector);
    if (found === null) throw broken(answer, 'a vector is not one of finite numbers');
    if (found !== expected) {
      throw broken(answer, `a vector has ${found} numbers and not ${expected}`);
    }
  }
  const wanted = expected === width ? vectors : vectors.map((vector) => shortened(vector, width));
  // Backends that fail inside are known to answer so, and nothing can be found by such a vector.
  if (wanted.some(isZeroVector))
    throw broken(answer, `a vector has nothing but zeros in its ${width} numbers`);
  return wanted;
}

function shortened(vector: Vector, width: number): Vector {
  return { form: 'floats', values: truncateAndNormalise(vectorValues(vector), width) };
}

function broken(answer: ProviderAnswer, message: string): EndpointFailure {
  const { promptTokens, totalTokens, tokensByModality = {} } = answer;
  const isBilled = promptTokens !== null || totalTokens !== null;
  // Without the vectors: failures are logged.
  const usage = { promptTokens, totalTokens, tokensByModality };
  return new EndpointFailure('broken', null, message, isBilled ? { usage } : {});
}
