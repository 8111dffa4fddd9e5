// Shared by the specs of own provider keys: creates them, and runs an upstream (OpenAI and Azure in one) that records
// keys.
import type { IncomingHttpHeaders } from 'node:http';
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import type {
  NewProviderCredential,
  ProviderCredential,
} from '../../../src/domain/providers/provider-credential.js';
import { ProviderCredentialsRepository } from '../../../src/persistence/keys/provider-credentials.repository.js';
import { patternVector, sendJson, startStubUpstream, toBase64 } from '../upstreams/stub-upstream.js';
import type { StubUpstream } from '../upstreams/stub-upstream.js';

/** The operator's key at the upstream. */
export const SHARED_KEY = 'shared-key-of-the-operator';
/** The upstream's token count for one input. */
const TOKENS_PER_INPUT = 5;

/** A status, or one that depends on how many inputs a call has. */
type KeyStatus = number | ((inputs: number) => number);

export interface ByokSetup {
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  /** The keys that the upstream has received since the last time, in order. */
  takeKeys(): string[];
  /** From now on the upstream answers this key with a status; 200: as usual. */
  answerKeyWith(key: string, status: KeyStatus): void;
  close(): Promise<void>;
}

export async function startWithKeys(environment: Readonly<Record<string, string>> = {}): Promise<ByokSetup> {
  const statuses = new Map<string, KeyStatus>();
  // Azure has a header of its own for a key.
  const keyOf = ({ authorization, 'api-key': azureKey }: IncomingHttpHeaders): string =>
    authorization?.replace('Bearer ', '') ?? String(azureKey);
  const upstream = await startStubUpstream(({ headers, body }, response) => {
    const key = keyOf(headers);
    const { input } = body;
    const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
    const scripted = statuses.get(key) ?? 200;
    const status = typeof scripted === 'number' ? scripted : scripted(inputs.length);
    // Like a provider that repeats the whole key in what it says.
    if (status !== 200) {
      sendJson(response, status, { error: { message: `refused for ${key}`, code: `code of ${key}` } });
      return;
    }
    const width = typeof body['dimensions'] === 'number' ? body['dimensions'] : 1536;
    sendJson(response, 200, {
      object: 'list',
      data: inputs.map((_item, index) => {
        const vector = patternVector(index, width);
        const embedding = body['encoding_format'] === 'base64' ? toBase64(vector) : vector;
        return { object: 'embedding', index, embedding };
      }),
      usage: {
        prompt_tokens: inputs.length * TOKENS_PER_INPUT,
        total_tokens: inputs.length * TOKENS_PER_INPUT,
      },
    });
  });
  const app = await createTestApp({
    environment: {
      OPENAI_API_KEY: SHARED_KEY,
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      // Without a key of the operator: only own keys reach it.
      AZURE_BASE_URL: upstream.origin,
      ...environment,
    },
  });
  return {
    app,
    upstream,
    takeKeys: () => upstream.requests.splice(0).map(({ headers }) => keyOf(headers)),
    answerKeyWith: (key, status) => statuses.set(key, status),
    close: async () => {
      await app.close();
      await upstream.close();
    },
  };
}

/** A credential for OpenAI in the app's own workspace. */
export async function createCredential(
  app: TestApp,
  overrides: Partial<NewProviderCredential> & { readonly apiKey: string },
): Promise<ProviderCredential> {
  return app.application.get(ProviderCredentialsRepository).create({
    accountId: app.accountId,
    workspaceId: app.workspaceId,
    provider: 'openai',
    name: null,
    disabled: false,
    isFallback: false,
    isRequired: false,
    isByokOnly: false,
    sortOrder: 0,
    allowedModels: [],
    allowedApiKeyHashes: [],
    allowedUserIds: [],
    declaredZdr: null,
    ...overrides,
  });
}
