// Writes one span of a trace request: the common parts, and the form of the platform.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { errorText } from '../shared/trace-json.js';
import { wellFormedText } from '../../domain/text/well-formed-json.js';
import { anyValueOf, closeAttribute, openAttribute, text, writeAttribute } from './any-value.js';
import type { AnyValue, Attribute } from './any-value.js';
import { OWN_METADATA } from './attributes.js';
import type { AttributeTable } from './attributes.js';
import { beginning } from './content-text.js';
import { SpanContent } from './span-content.js';

const KIND_CLIENT = 3;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

// A caller's key must not replace a fact of this service.
const RESERVED_KEY = /^openrouter(?:_generation)?(?:\.|$)/;

export interface SpanBounds {
  readonly maxAttributes: number;
  readonly maxNameLength: number;
  readonly maxValueLength: number;
  readonly maxArrayLength: number;
  /** Characters of the content as JSON. */
  readonly maxInputLength: number;
}

/** Far above usual sizes, and low enough for one span to fit into the smallest request. */
export const WIDE_BOUNDS: SpanBounds = {
  maxAttributes: 1024,
  maxNameLength: 16_384,
  maxValueLength: 294_912,
  maxArrayLength: 1024,
  maxInputLength: 294_912,
};

export interface SpanForm {
  readonly attributes: AttributeTable;
  /** Attributes that give way first where a platform bounds their number. */
  readonly last?: AttributeTable;
  /** Attributes whose number depends on the trace. */
  readonly listed?: (trace: GenerationTrace) => readonly Attribute[];
  /** Prefixes for metadata names: the caller's, and this service's own. Absent: `attributes` covers metadata. */
  readonly metadata?: { readonly caller: string; readonly own: string };
  /** Absent: the name of the trace's span. */
  readonly name?: (trace: GenerationTrace) => string;
  /** Whether a failure is reported by an event as well as by attributes. */
  readonly hasEvents: boolean;
  /** An event without attributes: its name, and the moment; null: the trace has none. */
  readonly event?: { readonly name: string; readonly at: (trace: GenerationTrace) => Date | null };
  readonly bounds?: SpanBounds;
  /** Differences of a span without a parent. */
  readonly root?: {
    /** 32 hex digits. Absent: the id of the trace. */
    readonly traceId?: (trace: GenerationTrace) => string;
    /** Added to those of the form; one of the same name replaces it. */
    readonly attributes?: AttributeTable;
  };
}

const NONE: readonly Attribute[] = [];

export interface SpanOptions {
  /** Attributes beyond those of the form. */
  readonly attributes?: readonly Attribute[];
  /** Null: the span is a root. Absent: the parent that the caller named. */
  readonly parentSpanId?: string | null;
}

/** Writes spans of one form as JSON. */
export type SpanWriter = (trace: GenerationTrace, options?: SpanOptions) => string;

export function spanWriter(form: SpanForm): SpanWriter {
  const bounds = form.bounds ?? WIDE_BOUNDS;
  const collect = attributeCollector(form, bounds);
  return (trace, { attributes: others = NONE, parentSpanId = trace.parentSpanId } = {}) => {
    const isRoot = parentSpanId === null;
    const traceId = (isRoot && form.root?.traceId?.(trace)) || trace.traceId;
    const { attributes, dropped } = collect(trace, others, isRoot);
    const name = beginning(form.name?.(trace) ?? trace.spanName, bounds.maxValueLength);
    let span = `{"traceId":${wellFormedText(traceId)},"spanId":${wellFormedText(trace.spanId)}`;
    if (parentSpanId !== null) span += `,"parentSpanId":${wellFormedText(parentSpanId)}`;
    span += `,"name":${wellFormedText(name)},"kind":${KIND_CLIENT}`;
    span += `,"startTimeUnixNano":${nanoseconds(trace.startedAt)}`;
    span += `,"endTimeUnixNano":${nanoseconds(trace.endedAt)}`;
    span += `,"attributes":[${attributes}]`;
    if (dropped > 0) span += `,"droppedAttributesCount":${dropped}`;
    const events = eventsOf(trace, form, bounds);
    if (events.length > 0) span += `,"events":[${events.join(',')}]`;
    return span + `,"status":${statusOf(trace, bounds)}}`;
  };
}

function eventsOf(
  trace: GenerationTrace,
  { event, hasEvents }: SpanForm,
  bounds: SpanBounds,
): readonly string[] {
  const moment = event?.at(trace) ?? null;
  return [
    ...(event && moment !== null
      ? [`{"timeUnixNano":${nanoseconds(moment)},"name":${wellFormedText(event.name)}}`]
      : []),
    ...(trace.error !== null && hasEvents ? [exceptionEvent(trace, bounds)] : []),
  ];
}

interface Collected {
  /** As JSON, separated by commas. */
  attributes: string;
  count: number;
  dropped: number;
}

function attributeCollector(
  form: SpanForm,
  bounds: SpanBounds,
): (trace: GenerationTrace, others: readonly Attribute[], isRoot: boolean) => Collected {
  const { metadata } = form;
  const own = metadata
    ? Object.entries(OWN_METADATA).map(
        ([name, valueOf]) => [`${metadata.own}openrouter.${name}`, valueOf] as const,
      )
    : [];
  const ofChildren = tableOf([...Object.entries(form.attributes), ...own]);
  const ofRoots = tableOf([...Object.entries({ ...form.attributes, ...form.root?.attributes }), ...own]);
  const last = tableOf(Object.entries(form.last ?? {}));
  const ownValues = new Map([...ofRoots, ...last].map(({ name, valueOf }) => [name, valueOf]));

  return (trace, others, isRoot) => {
    const collected: Collected = { attributes: '', count: 0, dropped: 0 };
    const add = (key: string, value: AnyValue | null, opening = openAttribute(key)): void => {
      if (value === null) return;
      if (collected.count >= bounds.maxAttributes || key.length > bounds.maxNameLength) {
        collected.dropped++;
        return;
      }
      if (collected.count > 0) collected.attributes += ',';
      collected.attributes += opening + closeAttribute(bounded(value, bounds));
      collected.count++;
    };
    const content = new SpanContent(trace, bounds.maxInputLength);
    for (const { name, valueOf, opening } of isRoot ? ofRoots : ofChildren) {
      add(name, valueOf(trace, content), opening);
    }
    for (const { key, value } of others) add(key, value);
    for (const { key, value } of form.listed?.(trace) ?? []) add(key, value);
    if (metadata) {
      if (isRoot) add(`${metadata.own}openrouter.parent_span_id`, text(trace.parentSpanId));
      // The caller's keys come before the facts of the flags: a platform's bound drops the last ones.
      for (const name of Object.keys(trace.metadata)) {
        const key = metadata.caller + name;
        // A caller may use a name of this service that has no value in this trace.
        const isTaken = (ownValues.get(key)?.(trace, content) ?? null) !== null;
        if (!RESERVED_KEY.test(name) && !isTaken) add(key, anyValueOf(trace.metadata[name]));
      }
      for (const name of Object.keys(trace.facts)) {
        add(`${metadata.own}openrouter_generation.${name}`, anyValueOf(trace.facts[name]));
      }
    }
    for (const { name, valueOf, opening } of last) add(name, valueOf(trace, content), opening);
    return collected;
  };
}

function tableOf(
  entries: readonly (readonly [string, AttributeTable[string]])[],
): readonly { name: string; opening: string; valueOf: AttributeTable[string] }[] {
  return entries.map(([name, valueOf]) => ({ name, opening: openAttribute(name), valueOf }));
}

function bounded(value: AnyValue, bounds: SpanBounds): AnyValue {
  if ('stringValue' in value) {
    const { stringValue } = value;
    if (stringValue.length <= bounds.maxValueLength) return value;
    return { stringValue: beginning(stringValue, bounds.maxValueLength) };
  }
  if ('arrayValue' in value) {
    const { values } = value.arrayValue;
    return {
      arrayValue: { values: values.slice(0, bounds.maxArrayLength).map((entry) => bounded(entry, bounds)) },
    };
  }
  return value;
}

/** The attributes of an exception, on an event or on the span itself. */
export const EXCEPTION_ATTRIBUTES: AttributeTable = {
  'exception.type': ({ error }) => text(error?.type ?? null),
  'exception.message': ({ error }) => text(error?.message ?? null),
};

function exceptionEvent(trace: GenerationTrace, bounds: SpanBounds): string {
  const attributes: string[] = [];
  for (const [key, valueOf] of Object.entries(EXCEPTION_ATTRIBUTES)) {
    const value = valueOf(trace, new SpanContent(trace, 0));
    if (value !== null) attributes.push(writeAttribute({ key, value: bounded(value, bounds) }));
  }
  const time = nanoseconds(trace.endedAt);
  return `{"timeUnixNano":${time},"name":"exception","attributes":[${attributes.join(',')}]}`;
}

function statusOf(trace: GenerationTrace, bounds: SpanBounds): string {
  const message = errorText(trace);
  if (message === undefined) return `{"code":${STATUS_OK}}`;
  return `{"code":${STATUS_ERROR},"message":${wellFormedText(beginning(message, bounds.maxValueLength))}}`;
}

/** Nanoseconds since 1970 as a JSON string, because a JSON number cannot hold them exactly. */
function nanoseconds(moment: Date): string {
  return `"${moment.getTime()}000000"`;
}
