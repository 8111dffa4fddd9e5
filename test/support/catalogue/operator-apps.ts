// Two replicas before one stub, and an account that operates them.
import type { Kind } from '../../../src/catalogue/reader/kinds.js';
import { AppConfig } from '../../../src/config/app-config.js';
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { ask } from '../requests/admin.js';
import { startChat } from '../upstreams/chat-upstream.js';
import type { StubUpstream } from '../upstreams/stub-upstream.js';

export interface OperatorApps {
  /** Its own account is a tenant. */
  readonly app: TestApp;
  readonly replica: TestApp;
  readonly upstream: StubUpstream;
  /** Of the operator's account. */
  readonly operatorKey: string;
  readonly operatorAccount: string;
  put(id: string, model: object, options?: ChangeOptions): ReturnType<typeof ask>;
  close(): Promise<void>;
}

interface ChangeOptions {
  readonly kind?: Kind;
  readonly reason?: string;
  readonly ifMatch?: string;
  readonly key?: string;
}

export async function startOperatorApps(
  environment: Readonly<Record<string, string>> = {},
): Promise<OperatorApps> {
  const first = await createTestApp();
  const { accountId, managementKey, databaseUrl, clock } = first;
  const setup = await startChat({ OPERATOR_ACCOUNTS: accountId, ...environment }, { databaseUrl, clock });
  const replica = await setup.app.startReplica();
  return {
    app: setup.app,
    replica,
    upstream: setup.upstream,
    operatorKey: managementKey,
    operatorAccount: accountId,
    put: async (id, model, { kind = 'chat_models', reason, ifMatch, key = managementKey } = {}) => {
      const request = setup.app.http
        .put(`/api/v1/catalogue/models/${id}`)
        .set('authorization', `Bearer ${key}`);
      if (ifMatch !== undefined) void request.set('if-match', ifMatch);
      return request.send({ kind, model, ...(reason === undefined ? {} : { reason }) });
    },
    close: async () => {
      await replica.close();
      await setup.close();
      await first.close();
    },
  };
}

/** Its account operates the service from now on: the id of an account is known when the app runs. */
export function makeOperator(app: TestApp): void {
  (app.application.get(AppConfig).operatorAccounts as string[]).push(app.accountId);
}

/** A chat model at OpenAI, in USD per million tokens. */
export function chatModel(prompt: number, completion: number, members: object = {}): object {
  return {
    created_at: '2026-01-01',
    context_length: 100_000,
    endpoints: [
      {
        provider: 'openai',
        upstream_model: 'new-1',
        prices: [priceRow(prompt, completion)],
      },
    ],
    ...members,
  };
}

export function priceRow(prompt: unknown, completion: unknown, day = '2026-01-01'): object {
  return { effective_from: day, source: 'a test', usd_per_million_tokens: { prompt, completion } };
}
