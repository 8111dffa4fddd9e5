// Free text of callers and providers. Only this file reads these members on the way to a destination, and privacy mode
// removes them all: the input, and any text that may repeat or describe it.
import { boundedLabel } from '../text/bounded-text.js';
import { callerMetadata, traceText } from './caller-trace.js';
import type { GenerationCandidate } from './generation-candidate.js';
import type { TracedContent } from './generation-trace.js';
import type { Generation } from './generation.js';
import { isInputType } from '../embeddings/input-type.js';
import { callerTraceIdOf } from './trace-ids.js';

type FreeTextMember = 'trace' | 'requestContext' | 'inputType' | 'upstreamId';

/** A generation without those members: ids, numbers and words of this service only. */
export type RecordedFacts = Omit<Generation, FreeTextMember>;

export interface FreeText {
  readonly input: TracedContent | null;
  readonly errorMessage: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly callerTraceId: string | null;
  readonly traceName: string | null;
  readonly spanName: string | null;
  readonly inputType: string | null;
  readonly upstreamId: string | null;
  readonly userAgent: string | null;
  readonly referer: string | null;
  readonly title: string | null;
}

export function freeTextOf({ generation, content }: GenerationCandidate): FreeText {
  const { trace, requestContext } = generation;
  return {
    input: content && { items: content.items, isTruncated: content.isTruncated },
    errorMessage: content?.errorMessage ?? null,
    metadata: callerMetadata(trace),
    callerTraceId: boundedLabel(callerTraceIdOf(generation)),
    traceName: boundedLabel(traceText(trace, 'trace_name')),
    spanName: boundedLabel(
      traceText(trace, 'generation_name') ?? traceText(trace, 'span_name') ?? traceText(trace, 'trace_name'),
    ),
    inputType: boundedLabel(generation.inputType),
    upstreamId: boundedLabel(generation.upstreamId),
    userAgent: boundedLabel(requestContext?.userAgent),
    referer: boundedLabel(requestContext?.referer),
    title: boundedLabel(requestContext?.title),
  };
}

const ID = /^[\w.:-]{1,128}$/;

/** The values of free members that are not free text: a known input type, and an id with the form of one. */
export function privateTextOf({
  generation: { inputType, upstreamId },
}: Pick<GenerationCandidate, 'generation'>): FreeText {
  return {
    input: null,
    errorMessage: null,
    metadata: {},
    callerTraceId: null,
    traceName: null,
    spanName: null,
    inputType: inputType !== null && isInputType(inputType) ? inputType : null,
    upstreamId: upstreamId !== null && ID.test(upstreamId) ? upstreamId : null,
    userAgent: null,
    referer: null,
    title: null,
  };
}
