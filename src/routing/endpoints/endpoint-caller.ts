// One call to one endpoint: sends the request, and returns nothing but whole vectors of the requested width.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { BrokenAnswer, operatorConnection, UnsupportedRequest } from '../../providers/shared/provider.js';
import type {
  Provider,
  HttpProvider,
  LocalProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
  UpstreamResponse,
} from '../../providers/shared/provider.js';
import type { CancelSignal } from '../../concurrency/cancellation.js';
import { HttpClient } from '../../outbound/http-client.js';
import { failureOfAnswer, failureOfResponse, failureOfThrown } from '../failures/exchange-failures.js';
import type { InnerNames } from '../failures/provider-words.js';
import { checkVectors } from './answer-check.js';
import type { EndpointTarget, ServingTarget } from '../endpoint-target.js';
import { sentMembers } from '../sent-members.js';

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
  /** The caller's account: long work of different accounts alternates. */
  readonly accountId: string;
}

/** One call on its way through this file. */
interface EndpointCall {
  readonly target: EndpointTarget;
  readonly call: ProviderCall;
  readonly limits: CallLimits;
  /** Numbers of each vector. */
  readonly width: number;
  readonly names: InnerNames;
}

/** One request of any operation, and how its answer is read. */
export interface Exchange<Answer> {
  readonly wire: Pick<HttpProvider, 'readError' | 'readUsage'>;
  readonly request: UpstreamRequest | Promise<UpstreamRequest>;
  /** Throws BrokenAnswer. */
  readonly read: (response: UpstreamResponse) => Answer | Promise<Answer>;
  readonly maxResponseBytes: number;
  /** Members of the caller may be the reason of a broken answer. */
  readonly hasUnknownMembers: boolean;
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
  isConfigured(provider: Provider): boolean {
    if (provider.transport === 'local') return true;
    return operatorConnection(provider, this.settingsOf(provider)) !== null;
  }

  /** Whether a customer's own key is all that is missing. */
  hasAddress(provider: Provider): boolean {
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
    const { extra, refused } = sentMembers(target, request.extra);
    const call: ProviderCall = {
      upstreamModel: endpoint.upstreamModel,
      family: endpoint.family,
      input,
      encodingFormat: request.encodingFormat,
      extra,
      // The native width is never requested: some upstreams refuse the member even then.
      dimensions: endpoint.takesDimensions && width !== model.nativeDimensions ? width : undefined,
      inputType: request.inputType,
      listedInputTypes: endpoint.inputTypes,
      user: request.user,
    };
    const names = this.namesOf(target);
    const endpointCall = { target, call, limits, width, names };
    try {
      if (refused !== null)
        throw new UnsupportedRequest(
          refused,
          `changes the vectors by a setting of the server, which ${provider.name} takes from its operator only; leave it out`,
        );
      if (provider.transport === 'http') return await this.callUpstream(provider, endpointCall);
      return checked(await this.computeLocally(provider, call, limits), endpointCall);
    } catch (error) {
      throw failureOfThrown(error, names);
    }
  }

  private async computeLocally(
    provider: LocalProvider,
    call: ProviderCall,
    { accountId }: CallLimits,
  ): Promise<ProviderAnswer> {
    const work = this.yieldQueue.begin(accountId);
    if (call.input.items.length > LARGE_LOCAL_CALL) await work.yieldNow();
    return provider.embed(call, work);
  }

  private callUpstream(provider: HttpProvider, endpointCall: EndpointCall): Promise<ProviderAnswer> {
    const { call, limits, names } = endpointCall;
    const exchange: Exchange<ProviderAnswer> = {
      wire: provider,
      request: provider.buildRequest(call, connectionOf(names)),
      read: (response) =>
        isLarge(response, call)
          ? this.readInTurn(provider, response, endpointCall)
          : checked(provider.readAnswer(response, call), endpointCall),
      maxResponseBytes: call.input.items.length * MAX_BYTES_PER_INPUT + MAX_BYTES_AROUND,
      hasUnknownMembers: Object.keys(call.extra).length > 0,
    };
    return this.exchange(exchange, names, limits);
  }

  private async readInTurn(
    provider: HttpProvider,
    response: UpstreamResponse,
    endpointCall: EndpointCall,
  ): Promise<ProviderAnswer> {
    await this.yieldQueue.enter(endpointCall.limits.accountId);
    return checked(provider.readAnswer(response, endpointCall.call), endpointCall);
  }

  /** Sends a request of any operation and reads its answer. Throws EndpointFailure, and what failureOfThrown() reads. */
  async exchange<Answer>(
    { wire, request, read, maxResponseBytes, hasUnknownMembers }: Exchange<Answer>,
    names: InnerNames,
    { timeout, signal }: CallLimits,
  ): Promise<Answer> {
    const built = request instanceof Promise ? await request : request;
    const response = await this.http.send(built, { timeout, signal, maxResponseBytes });
    if (response.status < 200 || response.status >= 300)
      throw failureOfResponse(wire, response, names, this.clock.now());
    try {
      const answer = read(response);
      return answer instanceof Promise ? await answer : answer;
    } catch (error) {
      if (!(error instanceof BrokenAnswer)) throw error;
      throw failureOfAnswer(wire, response, error, names, { now: this.clock.now(), hasUnknownMembers });
    }
  }

  /** The address, the key of the call, and the names that must not leave. */
  namesOf({ provider, credential, endpoint, model }: ServingTarget): InnerNames {
    const settings = this.settingsOf(provider);
    const ofProvider = provider.transport === 'http' ? provider.defaultBaseUrl : null;
    return {
      apiKeys: [credential?.apiKey ?? settings?.apiKey],
      baseUrl: settings?.baseUrl ?? ofProvider ?? '',
      upstreamModel: endpoint.upstreamModel,
      modelId: model.id,
    };
  }

  private settingsOf(provider: Provider) {
    return this.config.providers.get(provider.slug);
  }
}

export function connectionOf({ apiKeys: [apiKey], baseUrl }: InnerNames): ProviderConnection {
  return { baseUrl, ...(apiKey === undefined ? {} : { apiKey }) };
}

function isLarge({ body }: UpstreamResponse, { input }: ProviderCall): boolean {
  return input.items.length > LARGE_ANSWER.inputs || body.length > LARGE_ANSWER.bytes;
}

function checked(answer: ProviderAnswer, { target, call, width }: EndpointCall): ProviderAnswer {
  const vectors = checkVectors(answer, target, call.input.items.length, width);
  return vectors === answer.vectors ? answer : { ...answer, vectors };
}
