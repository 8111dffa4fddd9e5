// Portkey's open gateway as a gateway under test. It stores no keys and no models: a header of every call names its
// provider, the address and the key. https://portkey.ai/docs, "Gateway to other APIs", "Configs".
import { fileURLToPath } from 'node:url';
import type { EveryProvider } from '../../test/support/routing/every-provider.js';
import type { Members } from '../../test/support/providers/conformance-row.js';
import type { ProviderRow } from '../../test/support/providers/rows.js';
import { startChild } from '../../test/support/processes/child.js';
import { NotOffered, post, PROVIDER_TIMEOUT_MS } from './gateway.js';
import type { Gateway } from './gateway.js';

const PRELOAD = fileURLToPath(new URL('portkey/loopback.cjs', import.meta.url));
const REPEATS = 2;

export interface PortkeyProvider {
  readonly name: string;
  readonly path: string;
}

/** Its name of the provider, and the path between the stub's origin and the path that it appends itself. */
export const PORTKEY_PROVIDERS = {
  openai: { name: 'openai', path: '/v1' },
  azure: { name: 'azure-openai', path: '/openai' },
  cohere: { name: 'cohere', path: '' },
  voyage: { name: 'voyage', path: '/v1' },
  mistral: { name: 'mistral-ai', path: '/v1' },
  google: { name: 'google', path: '' },
  jina: { name: 'jina', path: '/v1' },
  together: { name: 'together-ai', path: '' },
  deepinfra: { name: 'deepinfra', path: '/v1/openai' },
  nomic: { name: 'nomic', path: '/v1' },
  bedrock: { name: 'bedrock', path: '' },
  ollama: { name: 'ollama', path: '' },
  // Servers with OpenAI's wire are called through its openai provider.
  tei: { name: 'openai', path: '/v1' },
  vllm: { name: 'openai', path: '/v1' },
  'openai-compatible': { name: 'openai', path: '/v1' },
} satisfies Record<string, PortkeyProvider>;
const PROVIDERS: Readonly<Record<string, PortkeyProvider>> = PORTKEY_PROVIDERS;

const NOT_OFFERED = new Set(['key', 'items']);
const REMARKS = [
  "key is not offered: it keeps no keys, so that a provider's 401 is about the caller's",
  'items is not offered: it takes images in a form of its own',
  'tei, vllm and openai-compatible are called through its provider for OpenAI, at their addresses',
];

export interface InstalledPortkey {
  readonly program: string;
  readonly version: string;
}

export interface RunningPortkey {
  readonly name: string;
  readonly baseUrl: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

export async function startPortkey(
  { program, version }: InstalledPortkey,
  signal: AbortSignal,
): Promise<RunningPortkey> {
  const {
    message,
    process: child,
    stop,
  } = await startChild<{ readonly baseUrl: string }>(program, {
    arguments: ['--headless'],
    preload: PRELOAD,
    environment: { NODE_ENV: 'production' },
    signal,
  });
  return { name: `Portkey ${version}`, baseUrl: message.baseUrl, pid: child.pid, stop };
}

/** Its embeddings. */
export function portkeyGateway(
  { name: gatewayName, baseUrl }: RunningPortkey,
  providers: EveryProvider,
  signal: AbortSignal,
): Gateway {
  const targetOf = (row: ProviderRow): Members => {
    const { name, path } = PROVIDERS[row.stub.slug] ?? { name: row.stub.slug, path: '' };
    return {
      provider: name,
      api_key: row.stub.apiKey || 'none',
      custom_host: new URL(providers.stubOf(row).baseUrl).origin + path,
      request_timeout: PROVIDER_TIMEOUT_MS,
      override_params: { model: row.model },
      ...partsOfKey(row),
    };
  };
  return {
    name: gatewayName,
    notOffered: NOT_OFFERED,
    remarks: REMARKS,
    ask: async (row, body, { next, repeats = false } = {}) => {
      const targets = [row, ...(next ? [next] : [])].map(targetOf);
      const config = {
        strategy: { mode: next ? 'fallback' : 'single' },
        targets,
        ...(repeats ? { retry: { attempts: REPEATS } } : {}),
      };
      const answer = await post(
        `${baseUrl}/embeddings`,
        { 'x-portkey-config': JSON.stringify(config) },
        { model: row.model, ...body },
        signal,
      );
      if (answer.text.includes('embed is not supported by')) throw new NotOffered();
      return answer;
    },
  };
}

/** For providers that need more than a key. */
function partsOfKey({ stub, model }: ProviderRow): Members {
  if (stub.slug === 'azure') {
    return { resource_name: 'stub', deployment_id: model, api_version: '2024-10-21' };
  }
  if (stub.slug === 'bedrock') {
    const [id = '', secret = ''] = stub.apiKey.split(':');
    return { aws_access_key_id: id, aws_secret_access_key: secret, aws_region: 'us-east-1' };
  }
  return {};
}
