// Takes a provider through one exchange with a stub, as the service does: build, send, read.
import { request } from 'undici';
import type {
  HttpEmbeddingProvider,
  ProviderAnswer,
  ProviderCall,
  ProviderConnection,
  ProviderError,
  UpstreamRequest,
  UpstreamResponse,
} from '../../../src/providers/shared/provider.js';
import { findEmbeddingProvider } from '../../../src/providers/index.js';
import { failureOfStatus } from '../../../src/routing/endpoints/endpoint-failure.js';
import { PROVIDER_STUBS } from './index.js';
import type { ProviderStub } from './provider-stub.js';

export function httpProvider(slug: string): HttpEmbeddingProvider {
  const provider = findEmbeddingProvider(slug);
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
  provider: HttpEmbeddingProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<Exchange> {
  const sent = await provider.buildRequest(call, connection);
  return { sent, response: await send(sent) };
}

/** The answer to a call that succeeds. */
export async function embed(
  provider: HttpEmbeddingProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<ProviderAnswer> {
  const { response } = await exchange(provider, call, connection);
  if (response.status !== 200) throw new Error(`${response.status}: ${response.body.toString()}`);
  return provider.readAnswer(response, call);
}

/** The error of a call that fails, with the kind that the service makes of it. */
export async function failure(
  provider: HttpEmbeddingProvider,
  call: ProviderCall,
  connection: ProviderConnection,
): Promise<ProviderError & { readonly kind: string }> {
  const { response } = await exchange(provider, call, connection);
  if (response.status === 200) throw new Error('the call succeeded');
  const error = provider.readError(response);
  return { ...error, kind: error.kind ?? failureOfStatus(response.status) };
}
