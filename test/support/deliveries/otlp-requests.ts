// The requests of OTLP kinds, as the specs of kinds read them.
import { parseConfig } from '../../../src/destination-kinds/shared/destination-kind.js';
import type { DeliveryContext, DeliveryRequest } from '../../../src/destination-kinds/shared/delivery.js';
import { requireDestinationKind } from '../../../src/destination-kinds/index.js';
import type { Attribute } from '../../../src/destination-kinds/otlp/any-value.js';
import type { DestinationConfig } from '../../../src/domain/destinations/destination.js';
import type { GenerationTrace } from '../../../src/domain/generations/generation-trace.js';
import { generationTrace } from './generation-trace.js';
import type { SentSpan } from './otlp-span.js';

export const CONTEXT: DeliveryContext = { destinationId: 'd-1', now: new Date('2026-11-21T10:00:00Z') };

export async function requestOf(
  type: string,
  config: DestinationConfig = {},
  traces: readonly GenerationTrace[] = [generationTrace()],
  context = CONTEXT,
): Promise<DeliveryRequest> {
  const kind = requireDestinationKind(type);
  const [request] = await kind.delivery.encode(
    parseConfig(kind, { ...kind.example, ...config }),
    traces,
    context,
  );
  return request!;
}

export interface Sent {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeSpans: readonly [{ readonly spans: readonly [SentSpan] }];
}

export async function sentTo(type: string, overrides: Partial<GenerationTrace>): Promise<Sent> {
  const { body } = await requestOf(type, {}, [generationTrace(1, overrides)]);
  return (JSON.parse(String(body)) as { resourceSpans: [Sent] }).resourceSpans[0];
}

export async function attributesOf(
  type: string,
  overrides: Partial<GenerationTrace>,
): Promise<Record<string, unknown>> {
  const { attributes } = (await sentTo(type, overrides)).scopeSpans[0].spans[0];
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
