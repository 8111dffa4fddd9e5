// Any answer of OpenAI's model, in any order that its events may come: items in turns, and servers that leave events out.
import * as fc from '../fast-check.js';
import { endOf, eventText, itemEvents, itemOf, numbered, STARTED } from './responses-events.js';
import type { OutputSpec, WireEvent } from './responses-events.js';

interface RandomAnswer {
  readonly specs: readonly OutputSpec[];
  readonly body: Buffer;
}

const deltas = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 4,
});
const specs: fc.Arbitrary<OutputSpec[]> = fc
  .array(
    fc.oneof(
      fc.record({ type: fc.constant('message' as const), deltas, isRefusal: fc.boolean() }),
      fc.record({
        type: fc.constant('reasoning' as const),
        summary: fc.array(deltas, { minLength: 1, maxLength: 2 }),
        encrypted: fc.option(fc.stringMatching(/^[A-Za-z0-9+/]{4,20}$/)),
      }),
      fc.record({
        type: fc.constantFrom('function_call' as const, 'custom_tool_call' as const),
        callId: fc.constant(''),
        name: fc.constantFrom('look', 'patch'),
        deltas,
      }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((each) => each.map((spec, index) => ('callId' in spec ? { ...spec, callId: `call_${index}` } : spec)));

/** Events of an item that some servers leave out; the last: all but its end. */
const OMITTED: readonly (readonly RegExp[])[] = [
  [],
  [/output_item\.added$/],
  [/part\.(?:added|done)$/],
  [/(?:text|refusal|arguments|input)\.done$/],
  [/(?:added|delta|text\.done|refusal\.done|arguments\.done|input\.done|part\.done)$/],
];

export const randomAnswers: fc.Arbitrary<RandomAnswer> = fc
  .tuple(specs, fc.array(fc.nat(4), { minLength: 5, maxLength: 5 }), fc.array(fc.nat(4), { maxLength: 80 }))
  .map(([items, omitted, turns]) => {
    const lists = items.map((spec, index) =>
      itemEvents(spec, index).filter(
        ({ type }) => !OMITTED[omitted[index] ?? 0]?.some((pattern) => pattern.test(type)),
      ),
    );
    const end = endOf(items.map((spec, index) => itemOf(spec, index)));
    const events = numbered([...STARTED, ...merged(lists, turns), end]);
    return { specs: items, body: Buffer.from(events.map(eventText).join('')) };
  });

/** The next event of the item whose turn it is; without turns, item by item. */
function merged(lists: readonly (readonly WireEvent[])[], turns: readonly number[]): WireEvent[] {
  const left = lists.map((list) => [...list]);
  const events: WireEvent[] = [];
  for (const turn of turns) events.push(...(left[turn % left.length] ?? []).splice(0, 1));
  return [...events, ...left.flat()];
}
