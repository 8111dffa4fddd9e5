// A webhook receiver for tests of delivery itself: takes every trace, and remembers which generations they were of.
// The receivers of the kinds check whether a payload is right.
import type { ReceivedDelivery, ReceiverResult } from '../receivers/receiver.js';

interface OtlpSpan {
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string };
  }[];
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** The spans of an OTLP request, in its order. */
export function spansIn({ bytes }: ReceivedDelivery): OtlpSpan[] {
  const body = JSON.parse(bytes.toString('utf8')) as OtlpBody;
  return body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
}

/** The ids of their generations. */
export function generationsIn(request: ReceivedDelivery): string[] {
  return spansIn(request).map(({ attributes }) => {
    const id = attributes.find(({ key }) => key === 'gen_ai.response.id')?.value.stringValue ?? '';
    return id.replace(/^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  });
}

export const traceCollector = {
  check: (request: ReceivedDelivery): ReceiverResult => ({
    reply: { status: 200 },
    stored: generationsIn(request),
  }),
};
