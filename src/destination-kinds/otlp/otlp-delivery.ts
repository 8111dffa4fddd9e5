// Delivery to a platform that accepts OTLP/HTTP JSON: a kind declares its address, credentials and attribute names.
import type { Operation } from '../../domain/generations/generation.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { isSuccess, outcomeOfStatus, problemUnless } from '../shared/delivery-outcome.js';
import type { StatusRules } from '../shared/delivery-outcome.js';
import type { DeliveryContext, DeliveryLimits, DeliveryRequest, KindDelivery } from '../shared/delivery.js';
import type { BaseDestinationConfig } from '../shared/destination-kind.js';
import { parentOf } from '../shared/parent-spans.js';
import type { ParentSpansConfig } from '../shared/parent-spans.js';
import { readOtlpAnswer } from './answer.js';
import { writeAttribute } from './any-value.js';
import type { Attribute } from './any-value.js';
import { SCOPE, resourceAttributes } from './attributes.js';
import { spanWriter } from './span.js';
import type { SpanForm, SpanWriter } from './span.js';

/** The form of the spans of each operation; that of embeddings serves for rerank where it is absent. */
export type SpanForms = Readonly<Record<Exclude<Operation, 'rerank'>, SpanForm>> & {
  readonly rerank?: SpanForm;
};

export interface OtlpPlatform<Config extends BaseDestinationConfig & ParentSpansConfig> {
  readonly limits: DeliveryLimits;
  readonly spans: SpanForms;
  url(config: Config): string;
  /** The credentials and other headers that the platform reads. */
  headers(config: Config): Readonly<Record<string, string>>;
  method?(config: Config): 'POST' | 'PUT';
  /** Resource attributes beyond the common ones. */
  resource?(config: Config): readonly Attribute[];
  /** Attributes of every span that depend on the config. */
  attributes?(config: Config): readonly Attribute[];
  /** Headers of a request with traces. */
  batchHeaders?(
    traces: readonly GenerationTrace[],
    context: DeliveryContext,
  ): Readonly<Record<string, string>>;
  /** Deviations of the platform from the specification. */
  readonly answers?: {
    readonly rules?: StatusRules;
    /** False: the body of a success does not follow the specification and is not read. */
    readonly hasPartialSuccess?: boolean;
  };
  readonly test?: {
    readonly headers?: (context: DeliveryContext) => Readonly<Record<string, string>>;
    /** Which statuses of a request without spans prove that spans would be accepted. Default: every 2xx, and 400. */
    readonly passes?: (status: number) => boolean;
  };
}

// A receiver that accepts the credentials may still reject a request without spans.
const passesOrDislikesEmpty = (status: number): boolean => isSuccess(status) || status === 400;

export function otlpDelivery<Config extends BaseDestinationConfig & ParentSpansConfig>(
  platform: OtlpPlatform<Config>,
): KindDelivery<Config> {
  const writers = {
    embeddings: spanWriter(platform.spans.embeddings),
    chat: spanWriter(platform.spans.chat),
    rerank: spanWriter(platform.spans.rerank ?? platform.spans.embeddings),
  } satisfies Record<Operation, SpanWriter>;
  const { rules = {}, hasPartialSuccess = true } = platform.answers ?? {};
  const { passes = passesOrDislikesEmpty } = platform.test ?? {};

  const request = (
    config: Config,
    resourceSpans: readonly string[],
    headers: Readonly<Record<string, string>> = {},
  ): DeliveryRequest => ({
    method: platform.method?.(config) ?? 'POST',
    url: platform.url(config),
    headers: { 'content-type': 'application/json', ...platform.headers(config), ...headers },
    body: writeBody(resourceSpans),
  });

  return {
    limits: platform.limits,
    addresses: (config) => [platform.url(config)],
    encode: (config, traces, context) => {
      const ofPlatform = platform.resource?.(config) ?? [];
      const ofConfig = platform.attributes?.(config) ?? [];
      const spanOf = (trace: GenerationTrace): string =>
        writers[trace.operation](trace, { attributes: ofConfig, parentSpanId: parentOf(config, trace) });
      // Each trace has its own resource, because the resource names the trace.
      const resourceSpans = traces.map((trace) => {
        const attributes = [...resourceAttributes(trace), ...ofPlatform].map(writeAttribute).join(',');
        const scopeSpans = `{"scope":${SCOPE},"spans":[${spanOf(trace)}]}`;
        return `{"resource":{"attributes":[${attributes}]},"scopeSpans":[${scopeSpans}]}`;
      });
      return [request(config, resourceSpans, platform.batchHeaders?.(traces, context))];
    },
    read: (response, _request, _config, context) =>
      (hasPartialSuccess ? readOtlpAnswer : outcomeOfStatus)(response, context, rules),
    probe: (config, context) => [
      { request: request(config, [], platform.test?.headers?.(context)), problem: problemUnless(passes) },
    ],
  };
}

/** Writes span by span: joining all texts first takes several times as long. */
function writeBody(resourceSpans: readonly string[]): Buffer {
  const list = resourceSpans.map((json, index) => (index === 0 ? json : `,${json}`));
  const texts = ['{"resourceSpans":[', ...list, ']}'];
  const body = Buffer.allocUnsafe(texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0));
  let end = 0;
  for (const text of texts) end += body.write(text, end);
  return body;
}
