// Delivery to a platform that takes OTLP/HTTP JSON: a kind says where, with which credentials and in which words.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { isSuccess, outcomeOfStatus, problemUnless } from '../shared/delivery-outcome.js';
import type { StatusRules } from '../shared/delivery-outcome.js';
import type { DeliveryContext, DeliveryLimits, DeliveryRequest, KindDelivery } from '../shared/delivery.js';
import type { BaseDestinationConfig } from '../shared/destination-kind.js';
import { OTLP_RULES, readOtlpAnswer } from './answer.js';
import { writeAttribute } from './any-value.js';
import type { Attribute } from './any-value.js';
import { SCOPE, resourceAttributes } from './attributes.js';
import { spanWriter } from './span.js';
import type { SpanForm } from './span.js';

export interface OtlpPlatform<Config extends BaseDestinationConfig> {
  readonly limits: DeliveryLimits;
  readonly span: SpanForm;
  url(config: Config): string;
  /** The credentials and whatever else the platform reads off the headers. */
  headers(config: Config): Readonly<Record<string, string>>;
  method?(config: Config): 'POST' | 'PUT';
  /** What the resource says beyond what it says everywhere. */
  resource?(config: Config): readonly Attribute[];
  /** What every span says because of the config. */
  attributes?(config: Config): readonly Attribute[];
  /** Headers of a request that carries traces. */
  batchHeaders?(
    traces: readonly GenerationTrace[],
    context: DeliveryContext,
  ): Readonly<Record<string, string>>;
  /** Where the platform departs from the specification. */
  readonly answers?: {
    readonly rules?: StatusRules;
    /** False: the body of a success is not the one that the specification asks for, and is not read. */
    readonly hasPartialSuccess?: boolean;
  };
  readonly test?: {
    readonly headers?: (context: DeliveryContext) => Readonly<Record<string, string>>;
    /** Which answers to a request without spans prove that spans would be taken. Default: every 2xx, and 400. */
    readonly passes?: (status: number) => boolean;
  };
}

// A receiver that takes the credentials may still dislike a request without spans.
const passesOrDislikesEmpty = (status: number): boolean => isSuccess(status) || status === 400;

export function otlpDelivery<Config extends BaseDestinationConfig>(
  platform: OtlpPlatform<Config>,
): KindDelivery<Config> {
  const writeSpan = spanWriter(platform.span);
  const { rules = OTLP_RULES, hasPartialSuccess = true } = platform.answers ?? {};
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
      const ofConfig = platform.attributes?.(config);
      // Each trace has a resource of its own, since the resource names the trace.
      const resourceSpans = traces.map((trace) => {
        const attributes = [...resourceAttributes(trace), ...ofPlatform].map(writeAttribute).join(',');
        const scopeSpans = `{"scope":${SCOPE},"spans":[${writeSpan(trace, ofConfig)}]}`;
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

/** Written span by span: a text of all of them is put together and copied several times as slowly. */
function writeBody(resourceSpans: readonly string[]): Buffer {
  const list = resourceSpans.map((json, index) => (index === 0 ? json : `,${json}`));
  const texts = ['{"resourceSpans":[', ...list, ']}'];
  const body = Buffer.allocUnsafe(texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0));
  let end = 0;
  for (const text of texts) end += body.write(text, end);
  return body;
}
