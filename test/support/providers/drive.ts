// Takes a provider through one exchange with a stub, as the service does: build, send, read.
import { request } from 'undici';
import type {
  HttpProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  UpstreamRequest,
  UpstreamResponse,
} from '../../../src/providers/shared/provider.js';
import { EMBEDDING_PROVIDERS } from '../../../src/providers/index.js';
import type { EndpointFailure } from '../../../src/routing/failures/endpoint-failure.js';
import { failureOfResponse } from '../../../src/routing/failures/exchange-failures.js';
import { PROVIDER_STUBS } from './index.js';
import type { ProviderStub } from './provider-stub.js';

export function httpProvider(slug: string): HttpProvider {
  const provider = EMBEDDING_PROVIDERS.find((one) => one.slug === slug);
  if (provider?.transport !== 'http') throw new Error(`no provider ${slug} over HTTP`);
  return provider;
}

export function stubOf(slug: string): ProviderStub {
  const stub = PROVIDER_STUBS.find((candidate) => candidate.slug === slug);
  if (!stub) throw new Error(`no stub of ${slug}`);
  return stub;
}

export function callOf(upstreamModel: string, overrides: Partial<ProviderCall> = {}): ProviderCall {
  return {
    upstreamModel,
    input: { form: 'texts', items: ['one', 'two words', 'three more words'] },
    encodingFormat: 'float',
    extra: {},
    ...overrides,
  };
}

async function send({ url, method, headers, body }: UpstreamRequest): Promise<UpstreamResponse> {
  const response = await request(url, { method, headers, body });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.from(await response.body.arrayBuffer()),
  };
}

export interface Exchange {
  readonly sent: UpstreamRequest;
  readonly response: UpstreamResponse;
}

export async function exchange(
  provider: HttpProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<Exchange> {
  const sent = await provider.buildRequest(call, connection);
  return { sent, response: await send(sent) };
}

/** The answer to a call that succeeds. */
export async function embed(
  provider: HttpProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<ProviderAnswer> {
  const { response } = await exchange(provider, call, connection);
  if (response.status !== 200) throw new Error(`${response.status}: ${response.body.toString()}`);
  return provider.readAnswer(response, call);
}

/** The failure that the service makes of a response; `modelId` is what callers call the model. */
export function failureOf(
  provider: HttpProvider,
  response: UpstreamResponse,
  { apiKey, baseUrl = '' }: Partial<ProviderConnection> = {},
): EndpointFailure {
  const names = { apiKeys: [apiKey], baseUrl, upstreamModel: '', modelId: 'vendor/model' };
  return failureOfResponse(provider, response, names, new Date('2026-11-27T12:00:00Z'));
}

/** The failure of a call that the stub rejects. */
export async function failure(
  provider: HttpProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<EndpointFailure> {
  const { response } = await exchange(provider, call, connection);
  if (response.status === 200) throw new Error('the call succeeded');
  return failureOf(provider, response, connection);
}
