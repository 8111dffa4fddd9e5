// Streams of OpenAI's Responses API, event by event. Source: OpenAI's reference of its streaming events, and its SDK's types.

type Members = Readonly<Record<string, unknown>>;
export type WireEvent = Members & { readonly type: string };

/** An item of an answer with the parts in which its text comes. */
export type OutputSpec =
  | { readonly type: 'message'; readonly deltas: readonly string[]; readonly isRefusal?: boolean }
  | {
      readonly type: 'reasoning';
      readonly summary: readonly (readonly string[])[];
      readonly encrypted: string | null;
    }
  | { readonly type: 'thought'; readonly deltas: readonly string[] }
  | {
      readonly type: 'function_call' | 'custom_tool_call';
      readonly callId: string;
      readonly name: string;
      readonly deltas: readonly string[];
    };

export const RESPONSE_USAGE = {
  input_tokens: 87_000,
  input_tokens_details: { cached_tokens: 80_000, cache_write_tokens: 5_000 },
  output_tokens: 1_000,
  output_tokens_details: { reasoning_tokens: 400 },
  total_tokens: 88_000,
};

export const responseObject = (status: string, output: readonly object[], more: Members = {}): Members => ({
  id: 'resp_0Stub',
  object: 'response',
  created_at: 1_790_000_000,
  status,
  error: null,
  incomplete_details: null,
  model: 'gpt-stub-2026-10-01',
  output,
  service_tier: 'default',
  store: false,
  usage: null,
  ...more,
});

/** The item as it is whole. */
export function itemOf(spec: OutputSpec, index: number, status = 'completed'): Members {
  switch (spec.type) {
    case 'message': {
      const text = spec.deltas.join('');
      const part = spec.isRefusal
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', annotations: [], logprobs: [], text };
      return { id: `msg_${index}`, type: 'message', status, role: 'assistant', content: [part] };
    }
    case 'reasoning':
      return {
        id: `rs_${index}`,
        type: 'reasoning',
        summary: spec.summary.map((deltas) => ({ type: 'summary_text', text: deltas.join('') })),
        ...(spec.encrypted !== null && { encrypted_content: spec.encrypted }),
      };
    case 'thought': {
      const content = [{ type: 'reasoning_text', text: spec.deltas.join('') }];
      return { id: `rs_${index}`, type: 'reasoning', summary: [], content };
    }
    default: {
      const { type, callId, name, deltas } = spec;
      const member = type === 'function_call' ? 'arguments' : 'input';
      return { id: `fc_${index}`, type, status, call_id: callId, name, [member]: deltas.join('') };
    }
  }
}

function begunItem(spec: OutputSpec, index: number): Members {
  const item = itemOf(spec, index, 'in_progress');
  if (spec.type === 'message') return { ...item, content: [] };
  if (spec.type === 'reasoning') return { id: item['id'], type: 'reasoning', summary: [] };
  if (spec.type === 'thought') return { ...item, content: [] };
  return { ...item, [spec.type === 'function_call' ? 'arguments' : 'input']: '' };
}

/** The events of one text: its deltas, and the whole. */
function textEvents(name: string, member: string, place: Members, deltas: readonly string[]): WireEvent[] {
  return [
    ...deltas.map((delta) => ({ type: `response.${name}.delta`, ...place, delta })),
    { type: `response.${name}.done`, ...place, [member]: deltas.join('') },
  ];
}

function contentEvents(spec: OutputSpec, index: number): WireEvent[] {
  const place = { item_id: itemOf(spec, index)['id'], output_index: index };
  const inPart = { ...place, content_index: 0 };
  const around = (part: object, empty: object, events: readonly WireEvent[]): WireEvent[] => [
    { type: 'response.content_part.added', ...inPart, part: empty },
    ...events,
    { type: 'response.content_part.done', ...inPart, part },
  ];
  switch (spec.type) {
    case 'message': {
      const [part = {}] = itemOf(spec, index)['content'] as object[];
      const [name, member] = spec.isRefusal
        ? (['refusal', 'refusal'] as const)
        : (['output_text', 'text'] as const);
      return around(part, { ...part, [member]: '' }, textEvents(name, member, inPart, spec.deltas));
    }
    case 'thought':
      return around(
        { type: 'reasoning_text', text: spec.deltas.join('') },
        { type: 'reasoning_text', text: '' },
        textEvents('reasoning_text', 'text', inPart, spec.deltas),
      );
    case 'reasoning':
      return spec.summary.flatMap((deltas, summary_index) => {
        const at = { ...place, summary_index };
        const part = { type: 'summary_text', text: deltas.join('') };
        return [
          { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
          ...textEvents('reasoning_summary_text', 'text', at, deltas),
          { type: 'response.reasoning_summary_part.done', ...at, part },
        ];
      });
    case 'function_call':
      return textEvents('function_call_arguments', 'arguments', place, spec.deltas);
    default:
      return textEvents('custom_tool_call_input', 'input', place, spec.deltas);
  }
}

/** Of one item. */
export function itemEvents(spec: OutputSpec, index: number): WireEvent[] {
  return [
    { type: 'response.output_item.added', output_index: index, item: begunItem(spec, index) },
    ...contentEvents(spec, index),
    { type: 'response.output_item.done', output_index: index, item: itemOf(spec, index) },
  ];
}

export const STARTED: readonly WireEvent[] = ['created', 'in_progress'].map((name) => ({
  type: `response.${name}`,
  response: responseObject('in_progress', []),
}));

/** The last event. `status`: completed, incomplete or failed. */
export const endOf = (
  output: readonly object[],
  { status = 'completed', ...more }: Members & { readonly status?: string } = {},
): WireEvent => ({
  type: `response.${status}`,
  response: responseObject(status, output, { usage: RESPONSE_USAGE, ...more }),
});

/** Numbered as OpenAI numbers them. */
export function numbered(events: readonly WireEvent[]): WireEvent[] {
  return events.map(({ type, ...members }, sequence_number) => ({ type, sequence_number, ...members }));
}

export function answerEvents(
  specs: readonly OutputSpec[],
  end: Members & { readonly status?: string } = {},
): WireEvent[] {
  return numbered([
    ...STARTED,
    ...specs.flatMap((spec, index) => itemEvents(spec, index)),
    endOf(
      specs.map((spec, index) => itemOf(spec, index)),
      end,
    ),
  ]);
}

export function eventText(event: WireEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A thought with its encrypted form, a text, and two calls. */
export const RICH_OUTPUT: readonly OutputSpec[] = [
  { type: 'reasoning', summary: [['Let me ', 'see.'], ['Both.']], encrypted: 'gAAAA-of-the-thought' },
  { type: 'message', deltas: ['Hel', 'lo é'] },
  { type: 'function_call', callId: 'call_1', name: 'look', deltas: ['{"id": 1234567890', '1234567890}'] },
  { type: 'function_call', callId: 'call_2', name: 'look', deltas: ['{}'] },
];
