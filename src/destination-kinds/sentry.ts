// Sentry: OTLP traces of a project.
import { TextField } from './shared/config-fields.js';
import { normaliseAddress } from './shared/delivery-outcome.js';
import { finishReasonsOf, firstTokenSeconds } from './shared/chat-forms.js';
import { BaseDestinationConfig } from './shared/destination-kind.js';
import type { DestinationKind } from './shared/destination-kind.js';
import { ParentSpansField } from './shared/parent-spans.js';
import type { ParentSpans } from './shared/parent-spans.js';
import { tracesAddress } from './otlp/address.js';
import { decimal, flag, jsonText, text } from './otlp/any-value.js';
import { inputValue, tagsOf, textValue } from './otlp/attributes.js';
import { ofChat } from './otlp/chat-attributes.js';
import { GENERIC_CHAT_SPAN, GENERIC_SPAN } from './otlp/generic-span.js';
import { OTLP_LIMITS } from './otlp/limits.js';
import { otlpDelivery } from './otlp/otlp-delivery.js';
import { EXCEPTION_ATTRIBUTES } from './otlp/span.js';
import type { SpanForm } from './otlp/span.js';
import { bareModelName } from './shared/trace-json.js';

// https, a public key, an optional secret, a host, an optional path, a numeric project id.
const DSN = /^https:\/\/[^\s:@/]+(:[^\s:@/]*)?@[^\s@/]+(\/[^\s/]+)*\/\d+\/?$/;

export class SentryConfig extends BaseDestinationConfig {
  static override readonly ownHeaders = ['content-type', 'x-sentry-auth'];

  @TextField({
    description: 'DSN of the project.',
    secret: 'masked',
    pattern: DSN,
    patternMessage: 'must be a DSN: https://<public key>@<host>/<project id>',
    header: 'as it is',
  })
  dsn: string;

  @TextField({
    description: 'OTLP traces endpoint of the project.',
    address: 'public',
    allowEmpty: true,
    problem: (endpoint, { dsn }: { dsn?: unknown }) => disagreement(endpoint, dsn),
  })
  otlpEndpoint: string;

  @ParentSpansField('link')
  parentSpans: ParentSpans = 'link';
}

// Sentry drops span events and cannot search lists: plain attributes carry both.
const SPAN: SpanForm = {
  ...GENERIC_SPAN,
  attributes: {
    ...GENERIC_SPAN.attributes,
    ...EXCEPTION_ATTRIBUTES,
    // Without it a call that reached no provider would have the operation `default`.
    'sentry.op': ({ operation }) => text(`gen_ai.${operation}`),
    'gen_ai.embeddings.input': (trace, content) => (trace.rerank ? null : inputValue(trace, content)),
    'gen_ai.cost.input_tokens': ({ cost }) => decimal(cost),
    'gen_ai.cost.total_tokens': ({ cost }) => decimal(cost),
    // Conversations are grouped by it.
    'gen_ai.conversation.id': ({ sessionId }) => text(sessionId),
    'gen_ai.request.encoding_format': ({ encodingFormat }) => text(encodingFormat),
    'trace.tag': (trace) => text(tagsOf(trace).join(',') || null),
  },
  hasEvents: false,
};

const costOf = (
  member: 'promptCost' | 'completionCost' | 'cachedCost' | 'cacheWriteCost' | 'reasoningCost',
) => ofChat((chat, { cost }) => decimal(cost === null ? null : chat[member]));

const CHAT_SPAN: SpanForm = {
  ...GENERIC_CHAT_SPAN,
  attributes: {
    ...GENERIC_CHAT_SPAN.attributes,
    ...EXCEPTION_ATTRIBUTES,
    'sentry.op': () => text('gen_ai.chat'),
    // Conversations show the result of a tool only under its older name.
    'gen_ai.input.messages': (_trace, { olderInputMessages }) => textValue(olderInputMessages),
    // Prices are filed under the bare name.
    'gen_ai.request.model': (trace) => text(bareModelName(trace)),
    'trace.metadata.openrouter.model': ({ model }) => text(model),
    'gen_ai.cost.input_tokens': costOf('promptCost'),
    'gen_ai.cost.output_tokens': costOf('completionCost'),
    'gen_ai.cost.total_tokens': ({ cost }) => decimal(cost),
    'gen_ai.cost.cache_read.input_tokens': costOf('cachedCost'),
    'gen_ai.cost.cache_creation.input_tokens': costOf('cacheWriteCost'),
    'gen_ai.cost.reasoning.output_tokens': costOf('reasoningCost'),
    // The older name of the same time, in seconds.
    'gen_ai.response.time_to_first_token': ofChat((chat) => decimal(firstTokenSeconds(chat))),
    'gen_ai.response.streaming': ofChat((chat) => flag(chat.isStreamed)),
    'gen_ai.response.tokens_per_second': ofChat((chat, { durationMs }) =>
      decimal(
        durationMs > 0 && chat.completionTokens > 0 ? chat.completionTokens / (durationMs / 1000) : null,
      ),
    ),
    // Lists of the conventions are JSON texts here.
    'gen_ai.response.finish_reasons': ofChat((chat) => {
      const reasons = finishReasonsOf(chat);
      return jsonText(reasons.length === 0 ? null : reasons);
    }),
    'gen_ai.request.stop_sequences': ofChat(({ content }) =>
      jsonText(content?.stop.length ? content.stop : null),
    ),
    'trace.tag': (trace) => text(tagsOf(trace).join(',') || null),
  },
  hasEvents: false,
};

/** Hosts of sentry.io vary with the age of a DSN: sentry.io, o1.ingest.sentry.io, o1.ingest.us.sentry.io. */
const SENTRY_HOST = /^(?:(o\d+)\.)?(?:ingest\.)?(?:([a-z0-9-]+)\.)?sentry\.io$/;

/** Why an endpoint does not belong to a DSN: Sentry would refuse the DSN's key there. */
function disagreement(endpoint: string, dsn: unknown): string | null {
  const address = normaliseAddress(endpoint);
  // Other rules check the form of each.
  if (typeof dsn !== 'string' || !URL.canParse(dsn) || !URL.canParse(address)) return null;
  const { hostname, pathname } = new URL(address);
  const named = new URL(dsn);
  if (!areOneHost(hostname, named.hostname)) return "must be on the DSN's host";
  const project = /\/api\/(\d+)(?:\/|$)/.exec(pathname)?.[1];
  const isOther = project !== undefined && project !== /(\d+)\/?$/.exec(named.pathname)?.[1];
  return isOther ? "must be of the DSN's project" : null;
}

function areOneHost(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [SENTRY_HOST.exec(one), SENTRY_HOST.exec(other)];
  if (!first || !second) return false;
  const [, organization, region = 'us'] = first;
  const [, otherOrganization = organization, otherRegion = 'us'] = second;
  return (organization ?? otherOrganization) === otherOrganization && region === otherRegion;
}

/** The public key of a DSN, without the secret of older ones. */
function publicKeyOf(dsn: string): string {
  return /^https:\/\/([^\s:@/]+)/.exec(dsn)?.[1] ?? '';
}

export const sentry: DestinationKind<SentryConfig> = {
  type: 'sentry',
  neutralType: 'kind_13',
  platform: 'Sentry',
  configClass: SentryConfig,
  delivery: otlpDelivery({
    limits: OTLP_LIMITS,
    spans: { embeddings: SPAN, chat: CHAT_SPAN },
    url: ({ otlpEndpoint }) => tracesAddress(otlpEndpoint, '/integration/otlp'),
    headers: ({ dsn }) => ({ 'x-sentry-auth': `sentry sentry_key=${publicKeyOf(dsn)}` }),
  }),
  example: {
    dsn: 'https://0123456789abcdef@o1.ingest.sentry.io/42',
    otlpEndpoint: 'https://o1.ingest.sentry.io/api/42/integration/otlp/v1/traces',
  },
};
