// A service for the table of endings: every row has endpoints of its own, so that their health shows what the row did.
import type { ServerResponse } from 'node:http';
import type { Generation } from '../../../src/domain/generations/generation.js';
import type { TestApp } from '../app/app.js';
import { createTestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { eventually } from '../eventually.js';
import { chatsOf, postChat } from '../upstreams/chat-upstream.js';
import type { StreamedChunk } from '../upstreams/chat-upstream.js';
import { startStubUpstream } from '../upstreams/stub-upstream.js';
import type { ReceivedRequest, StubUpstream } from '../upstreams/stub-upstream.js';

/** Picodollars a token. */
export const PROMPT_PRICE = 1_000_000n;
export const COMPLETION_PRICE = 2_000_000n;
export const costOf = (prompt: number, completion: number): bigint =>
  BigInt(prompt) * PROMPT_PRICE + BigInt(completion) * COMPLETION_PRICE;

/** How the provider of a model bills after a close, and whether its reasoning is hidden. */
export type Billing = 'stops' | 'runs_on' | 'stops_always' | 'hidden';
const BILLINGS: readonly Billing[] = ['stops', 'runs_on', 'stops_always', 'hidden'];
const MODELS_OF_A_BILLING = 60;
export const CONTEXT = 32_768;
export const MOST_OUTPUT = 1_000;

export type Answer = (request: ReceivedRequest, response: ServerResponse) => void;

export interface CallOutcome {
  readonly generation: Generation;
  /** USD by reason. */
  readonly unpaid: Readonly<Record<string, number>>;
  /** Percent of the outcomes of the first endpoint; null: none counted. */
  readonly health: number | null;
  /** Requests that the providers received. */
  readonly tried: number;
  readonly response: { readonly status: number; readonly headers: Headers; readonly body: string } | null;
}

export interface EndedCall {
  readonly app: TestApp;
  readonly body?: object;
  readonly billing?: Billing;
  /** Of the first model, the second, and so on. The call names as many models. */
  readonly answers: readonly Answer[];
  /** Runs while the call runs. The headers of a stream come with its first content. */
  readonly beside?: (headers: Promise<Response>) => Promise<void>;
  /** Aborts the caller. */
  readonly signal?: AbortSignal;
}

export interface EndingsService {
  /** One process, or as many as were asked for. */
  readonly apps: readonly TestApp[];
  readonly app: TestApp;
  readonly upstream: StubUpstream;
  run(call: EndedCall): Promise<CallOutcome>;
  /** The id of a model that no call has named. */
  newModel(billing?: Billing): string;
  answer(model: string, answer: Answer): void;
  close(): Promise<void>;
}

export async function startEndings(
  environment: Readonly<Record<string, string>> = {},
  replicas = 1,
): Promise<EndingsService> {
  const answers = new Map<string, Answer>();
  const upstream = await startStubUpstream((request, response) => {
    const answer = answers.get(String(request.body['model']));
    if (!answer) throw new Error(`no answer for ${String(request.body['model'])}`);
    answer(request, response);
  });
  const models = BILLINGS.flatMap((billing) =>
    Array.from({ length: MODELS_OF_A_BILLING }, (_value, index) => modelOf(billing, index)),
  );
  const apps = await withCatalogueFile(JSON.stringify({ chat_models: models }), async (file) => {
    const first = await createTestApp({
      environment: {
        OPENAI_API_KEY: 'upstream-key',
        OPENAI_BASE_URL: `${upstream.origin}/v1`,
        PROVIDER_RETRIES: '0',
        CATALOGUE_FILE: file,
        ...environment,
      },
    });
    const others = [];
    while (others.length < replicas - 1) others.push(await first.startReplica());
    return [first, ...others];
  });
  const [app] = apps;
  if (!app) throw new Error('there is no process');
  const used = new Map<Billing, number>();
  const newModel = (billing: Billing = 'stops'): string => {
    const index = used.get(billing) ?? 0;
    used.set(billing, index + 1);
    return idOf(billing, index);
  };
  const upstreamNameOf = (id: string): string => id.slice('endings/'.length);
  return {
    apps,
    app,
    upstream,
    newModel,
    answer: (model, answer) => void answers.set(upstreamNameOf(model), answer),
    run: async ({ app: at, body = {}, billing, answers: given, beside, signal }) => {
      const names = given.map((answer) => {
        const model = newModel(billing);
        answers.set(upstreamNameOf(model), answer);
        return model;
      });
      const key = await at.createKey({ limit: 10n ** 12n });
      const answering = postChat(
        at,
        { model: names[0], models: names.slice(1), max_tokens: 500, ...body },
        { key: key.secret, ...(signal ? { signal } : {}) },
      );
      const posting = answering
        .then(async (answered) => {
          const { status, headers } = answered;
          return { status, headers, body: await answered.text() };
        })
        .catch((error: unknown) => {
          if (signal?.aborted !== true) throw error;
          return null;
        });
      await beside?.(answering);
      const response = await posting;
      const [generation] = await eventually(
        () => chatsOf(at, key.record.id),
        ({ length }) => length > 0,
      );
      const upstreamNames = new Set(names.map(upstreamNameOf));
      return {
        generation: generation!,
        response,
        tried: upstream.requests.filter(({ body: { model } }) => upstreamNames.has(String(model))).length,
        health: await healthOf(at, names[0]!),
        unpaid: await unpaidOf(at, [...upstreamNames]),
      };
    },
    close: async () => {
      for (const one of apps.toReversed()) await one.close();
      await upstream.close();
    },
  };
}

/** The share of successes at an endpoint of a model, as a process has seen it; null: no outcome was counted. */
export async function healthOf(app: TestApp, model: string, tag = 'openai'): Promise<number | null> {
  const { body, text } = await app.http
    .get('/api/v1/endpoints')
    .query({ model })
    .set('authorization', `Bearer ${app.managementKey}`);
  const { data } = body as { data?: readonly { tag: string; uptime_last_5m: number | null }[] };
  const endpoint = data?.find((one) => one.tag === tag);
  if (!endpoint) throw new Error(text);
  return endpoint.uptime_last_5m;
}

async function unpaidOf(
  app: TestApp,
  upstreamModels: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const { text } = await app.http.get('/metrics');
  const sums: Record<string, number> = {};
  const line =
    /^signalbox_unpaid_upstream_usd_total\{provider="openai",endpoint="openai\/([^"]+)",reason="([^"]+)"\} (\S+)$/gm;
  for (const [, model = '', reason = '', usd] of text.matchAll(line))
    if (upstreamModels.includes(model)) sums[reason] = (sums[reason] ?? 0) + Number(usd);
  return sums;
}

/** The parsed events of a stream's body. */
export function eventsOf(body: string): readonly (StreamedChunk | '[DONE]')[] {
  return body
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as StreamedChunk)));
}

function idOf(billing: Billing, index: number): string {
  return `endings/${billing.replaceAll('_', '-')}-${index}`;
}

function modelOf(billing: Billing, index: number): object {
  const id = idOf(billing, index);
  return {
    id,
    created_at: '2026-01-01',
    context_length: CONTEXT,
    tokenizer: 'o200k',
    endpoints: [
      {
        provider: 'openai',
        upstream_model: id.slice('endings/'.length),
        max_output_tokens: MOST_OUTPUT,
        supported_parameters: ['n', 'logprobs'],
        ...(billing === 'hidden' ? { hides_reasoning: true } : { cancellation: billing }),
        prices: [
          {
            effective_from: '2026-01-01',
            source: 'a test',
            usd_per_million_tokens: { prompt: 1, completion: 2 },
          },
        ],
        data_policy: { retains_prompts: false, trains: false },
      },
    ],
  };
}
