import { describe, expect, it } from '@jest/globals';
import { generationTrace } from '../../../test/support/deliveries/generation-trace.js';
import { CONTEXT } from '../../../test/support/deliveries/otlp-requests.js';
import { DESTINATION_KINDS, requireDestinationKind } from '../index.js';
import { parseConfig } from './destination-kind.js';

const PARENT = '00f067aa0ba902b7';
const TRACE = generationTrace(1, { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentSpanId: PARENT });
// Stores of rows keep the parent as a column, and Opik gets no parent.
const WITHOUT_CHOICE = new Set(['clickhouse', 'opik', 's3', 'snowflake']);
const ROOT_BY_DEFAULT = new Set(['braintrust', 'langfuse', 'langsmith', 'weave']);
// The member that makes a call a child of a span.
const AS_PARENT = new RegExp(`"(?:parentSpanId|parent_id|\\$ai_parent_id|span_parents)":\\[?"${PARENT}"`);

async function sent(type: string, config: object): Promise<string> {
  const kind = requireDestinationKind(type);
  const requests = await kind.delivery.encode(
    parseConfig(kind, { ...kind.example, ...config }),
    [TRACE],
    CONTEXT,
  );
  return requests.map(({ body }) => String(body)).join();
}

const CHOOSING = DESTINATION_KINDS.map(({ type }) => type).filter((type) => !WITHOUT_CHOICE.has(type));

describe.each(CHOOSING)('%s', (type) => {
  it('sends the parent of the caller as the parent, if the config says so', async () => {
    expect(await sent(type, { parentSpans: 'link' })).toMatch(AS_PARENT);
  });

  it('sends a root otherwise, with the ids of the caller as metadata', async () => {
    const text = await sent(type, { parentSpans: 'root' });
    expect(text).not.toMatch(AS_PARENT);
    expect(text).toContain(PARENT);
    expect(text).toContain(TRACE.traceId);
  });

  it('has the default of its platform', async () => {
    const byDefault = ROOT_BY_DEFAULT.has(type) ? 'root' : 'link';
    expect(await sent(type, {})).toBe(await sent(type, { parentSpans: byDefault }));
  });
});
