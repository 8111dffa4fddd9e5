// A webhook receiver for tests of delivery itself: takes every trace, and remembers which generations they were of.
// Whether a payload is right is judged elsewhere, by the receivers of the kinds.
import type { ReceivedDelivery, Verdict } from './receivers/receiver.js';

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly attributes: readonly {
          readonly key: string;
          readonly value: { readonly stringValue?: string };
        }[];
      }[];
    }[];
  }[];
}

/** The ids of the generations in an OTLP request, in its order. */
export function generationsIn({ bytes }: ReceivedDelivery): string[] {
  const body = JSON.parse(bytes.toString('utf8')) as OtlpBody;
  const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return spans.map(({ attributes }) => {
    const id = attributes.find(({ key }) => key === 'gen_ai.response.id')?.value.stringValue ?? '';
    return id.replace(/^gen-(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  });
}

export const traceCollector = {
  judge: (request: ReceivedDelivery): Verdict => ({ reply: { status: 200 }, stored: generationsIn(request) }),
};
