// One call to one endpoint: asks, waits, reads, and lets nothing but whole, right vectors through.
import { Injectable } from '@nestjs/common';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { AppConfig } from '../config/app-config.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { truncateAndNormalise, vectorValues, vectorWidth } from '../domain/vectors.js';
import type { Vector } from '../domain/vectors.js';
import { BrokenAnswer, UnsupportedRequest } from '../embedding-providers/embedding-provider.js';
import type {
  EmbeddingProvider,
  HttpEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
} from '../embedding-providers/embedding-provider.js';
import { HttpClient, OutboundFailure, OutboundTimeout } from '../outbound/http-client.js';
import { EndpointFailure, failureOfStatus } from './endpoint-failure.js';

// Room for an input's vector at 16,000 numbers of 25 characters, and for what stands around them.
const MAX_BYTES_PER_INPUT = 400_000;
const MAX_BYTES_AROUND = 1_000_000;

export interface EndpointTarget {
  readonly model: CatalogueModel;
  readonly endpoint: ModelEndpoint;
  readonly provider: EmbeddingProvider;
}

@Injectable()
export class EndpointCaller {
  constructor(
    private readonly http: HttpClient,
    private readonly config: AppConfig,
  ) {}

  /** Whether the operator has said enough to call this provider. */
  isConfigured(provider: EmbeddingProvider): boolean {
    if (provider.transport === 'local') return true;
    const settings = this.config.providers.get(provider.slug);
    const hasAddress = (settings?.baseUrl ?? provider.defaultBaseUrl) !== null;
    return hasAddress && (!provider.needsApiKey || settings?.apiKey !== undefined);
  }

  /** Throws EndpointFailure. `timeout` in milliseconds. */
  async call(target: EndpointTarget, request: EmbeddingRequest, timeout: number): Promise<ProviderAnswer> {
    const { model, endpoint, provider } = target;
    const width = request.dimensions ?? model.nativeDimensions;
    const call: ProviderCall = {
      upstreamModel: endpoint.upstreamModel,
      input: request.input,
      encodingFormat: request.encodingFormat,
      extra: request.extra,
      // The native width is never asked for: some upstreams refuse the member even then.
      ...(endpoint.takesDimensions && width !== model.nativeDimensions ? { dimensions: width } : {}),
      ...(request.inputType === undefined ? {} : { inputType: request.inputType }),
      ...(request.user === undefined ? {} : { user: request.user }),
    };
    const answer = await this.ask(provider, call, timeout);
    return { ...answer, vectors: this.checkVectors(answer.vectors, target, request, width) };
  }

  private async ask(
    provider: EmbeddingProvider,
    call: ProviderCall,
    timeout: number,
  ): Promise<ProviderAnswer> {
    try {
      return provider.transport === 'local'
        ? await provider.embed(call)
        : await this.askUpstream(provider, call, timeout);
    } catch (error) {
      if (error instanceof UnsupportedRequest) throw new EndpointFailure('refused', null, error.message);
      if (error instanceof BrokenAnswer)
        throw new EndpointFailure('broken', null, error.message, { cause: error });
      if (error instanceof OutboundTimeout)
        throw new EndpointFailure('timeout', null, error.message, { cause: error });
      if (error instanceof OutboundFailure)
        throw new EndpointFailure('failed', null, error.message, { cause: error });
      throw error;
    }
  }

  private async askUpstream(
    provider: HttpEmbeddingProvider,
    call: ProviderCall,
    timeout: number,
  ): Promise<ProviderAnswer> {
    const settings = this.config.providers.get(provider.slug);
    const upstreamRequest = await provider.buildRequest(call, {
      baseUrl: settings?.baseUrl ?? provider.defaultBaseUrl ?? '',
      ...(settings?.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
    });
    const response = await this.http.send(upstreamRequest, {
      timeout,
      maxResponseBytes: call.input.items.length * MAX_BYTES_PER_INPUT + MAX_BYTES_AROUND,
    });
    if (response.status >= 200 && response.status < 300) return provider.readAnswer(response, call);
    const { message, code, kind } = provider.readError(response);
    throw new EndpointFailure(kind ?? failureOfStatus(response.status), response.status, message, {
      code,
      retryAfter: retryAfterOf(response.headers['retry-after']),
    });
  }

  /** The invariant: N inputs, N vectors, in order, finite, all of the wanted width. */
  private checkVectors(
    vectors: readonly Vector[],
    { model, endpoint }: EndpointTarget,
    request: EmbeddingRequest,
    width: number,
  ): readonly Vector[] {
    const inputs = request.input.items.length;
    if (vectors.length !== inputs) {
      throw new EndpointFailure('broken', null, `${vectors.length} vectors came back for ${inputs} inputs`);
    }
    const expected = endpoint.takesDimensions ? width : model.nativeDimensions;
    for (const vector of vectors) {
      const found = vectorWidth(vector);
      if (found === null) throw new EndpointFailure('broken', null, 'a vector is not one of finite numbers');
      if (found !== expected) {
        throw new EndpointFailure('broken', null, `a vector has ${found} numbers and not ${expected}`);
      }
    }
    if (expected === width) return vectors;
    return vectors.map((vector) => ({
      form: 'floats',
      values: truncateAndNormalise(vectorValues(vector), width),
    }));
  }
}

/** Whole seconds, from either form of the header. */
function retryAfterOf(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) : null;
}
