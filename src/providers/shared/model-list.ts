// How providers list their models. A list is hostile input: names are bounded in number, length and characters, and facts of
// another form than promised are unknown.
import { MAX_LISTED_MODELS, MODEL_KINDS } from '../../domain/providers/provider-model.js';
import type { ModelFacts, ProviderModel } from '../../domain/providers/provider-model.js';
import { operationUrl, withoutUserInfo } from './address.js';
import { BrokenAnswer } from './provider.js';
import type { ModelListWire, ProviderConnection, UpstreamResponse } from './provider.js';
import { asObject, bearer } from './wire.js';

type Members = Readonly<Record<string, unknown>>;

/** Facts as the provider writes them, unchecked. Absent ones are unknown. */
export type StatedFacts = { readonly [Name in keyof ModelFacts]?: unknown };

interface ModelListForm {
  readonly url: (baseUrl: string) => string;
  /** Absent: the key as a bearer token. */
  readonly headers?: (apiKey: string | undefined) => Readonly<Record<string, string>>;
  /** Parameters of the first page. */
  readonly query?: Readonly<Record<string, string>>;
  /** The models of a body. Absent: `data`, as at OpenAI. */
  readonly items?: (body: unknown) => unknown;
  /** Absent: `id`. */
  readonly name?: (item: Members) => unknown;
  readonly facts?: (item: Members) => StatedFacts;
  /** The parameters of the page after a body; null: it is the last one. Absent: there is one page. */
  readonly next?: (body: Members) => Readonly<Record<string, unknown>> | null;
}

const NAME = /^[\w.:@/+-]{1,200}$/;
const LABEL = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;
const MAX_ALIASES = 20;
const MAX_COUNT = 1_000_000_000;
// Of a parameter of the next page, which a provider chooses.
const MAX_CURSOR = 1_000;

export function defineModelList(form: ModelListForm): ModelListWire {
  const { headers = bearer, items = ofOpenAi, name = ({ id }) => id, facts = () => ({}), next } = form;
  return {
    buildRequest: ({ baseUrl, apiKey }: ProviderConnection, cursor) =>
      getFrom(withQuery(form.url(baseUrl), { ...form.query, ...cursor }), headers(apiKey)),
    readPage: (response) => {
      const body = bodyOf(response);
      const listed = items(body);
      if (!Array.isArray(listed)) throw new BrokenAnswer('the answer has no list of models');
      return {
        models: listed.slice(0, MAX_LISTED_MODELS).flatMap((item) => {
          const members = asObject(item);
          const found = name(members);
          if (typeof found !== 'string' || !NAME.test(found)) return [];
          return [{ name: found, facts: checkedFacts(facts(members)) } satisfies ProviderModel];
        }),
        next: cursorOf(next?.(asObject(body)) ?? null),
      };
    },
  };
}

/** The list of OpenAI and of servers with its wire, below a base URL that ends in its version. */
export const OPENAI_MODELS = defineModelList({ url: (baseUrl) => operationUrl(baseUrl, '/models') });

/** The list of a server that its operator runs: vLLM states the context. */
export const SERVER_MODELS = defineModelList({
  url: (baseUrl) => operationUrl(baseUrl, '/models'),
  facts: ({ max_model_len: contextLength }) => ({ contextLength }),
});

/** A day of a time in ISO form, or of Unix seconds. */
export function dayOf(time: unknown): string | undefined {
  const moment = new Date(typeof time === 'number' ? time * 1000 : typeof time === 'string' ? time : NaN);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString().slice(0, 10);
}

function ofOpenAi(body: unknown): unknown {
  return asObject(body)['data'];
}

function bodyOf({ body }: UpstreamResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new BrokenAnswer('the answer is no JSON', { cause: error });
  }
}

function getFrom(
  url: string,
  headers: Readonly<Record<string, string>>,
): ReturnType<ModelListWire['buildRequest']> {
  const address = withoutUserInfo(url);
  return {
    method: 'GET',
    url: address.url,
    headers: { accept: 'application/json', ...address.headers, ...headers },
  };
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address.href;
}

function cursorOf(
  parameters: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, string>> | null {
  const entries = Object.entries(parameters ?? {});
  const isRight = entries.every(([, value]) => typeof value === 'string' && value.length <= MAX_CURSOR);
  return entries.length > 0 && isRight ? (Object.fromEntries(entries) as Record<string, string>) : null;
}

function checkedFacts(stated: StatedFacts): ModelFacts {
  return {
    kind: MODEL_KINDS.find((kind) => kind === stated.kind) ?? null,
    displayName: textOf(stated.displayName, LABEL),
    contextLength: countOf(stated.contextLength),
    maxOutputTokens: countOf(stated.maxOutputTokens),
    prices: pricesOf(stated.prices),
    releasedOn: textOf(stated.releasedOn, /^[12]\d{3}-\d{2}-\d{2}$/),
    retiresOn: textOf(stated.retiresOn, /^[12]\d{3}-\d{2}-\d{2}$/),
    successor: textOf(stated.successor, NAME),
    aliases: Array.isArray(stated.aliases)
      ? stated.aliases.slice(0, MAX_ALIASES).flatMap((alias) => textOf(alias, NAME) ?? [])
      : [],
  };
}

function textOf(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

function countOf(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_COUNT
    ? (value as number)
    : null;
}

/** One price without the other says nothing of a call. */
function pricesOf(value: unknown): ModelFacts['prices'] {
  const { prompt, completion } = asObject(value);
  const [input, output] = [priceOf(prompt), priceOf(completion)];
  return input === null || output === null ? null : { prompt: input, completion: output };
}

function priceOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  return textOf(text, /^\d{1,6}(?:\.\d{1,6})?$/);
}
