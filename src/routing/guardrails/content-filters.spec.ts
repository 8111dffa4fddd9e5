// The bytes of a redacted body (docs/contract.md#guardrails).
import { expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { Metrics } from '../../config/metrics.js';
import { inForce } from '../../domain/guardrails/guardrails-in-force.js';
import { NO_RULES } from '../../domain/guardrails/guardrail.js';
import type { GuardedCaller } from '../../domain/keys/api-key.js';
import { ContentFilters } from './content-filters.js';
import type { DailyHits } from './daily-hits.js';

const filters = new ContentFilters(
  new YieldQueue(),
  { add: () => undefined } as unknown as DailyHits,
  new Metrics(),
);
const guardrails = inForce([
  {
    ...NO_RULES,
    id: 'one',
    name: 'One',
    scope: 'api_key',
    limit: null,
    limitReset: null,
    includeByokInBudgets: false,
    contentFilters: [],
    builtinFilters: [{ slug: 'email', action: 'redact', scanScope: 'all_messages' }],
    rejectUnscannable: false,
  },
]);
const caller = {
  key: { accountId: 'account', workspaceId: 'workspace' },
  guardrails,
} as unknown as GuardedCaller;

// JSON text of parts of a string. No part continues an address.
const MATCHES = ['ann@example.com', 'ann\\u0040example.com', '\\u0061nn@example\\u002ecom'];
const OTHERS = [' ', '\\n', 'é', '\\u00e9', '😀', '\\ud83d\\ude00', '"x', '\\\\', '\\/', ' a @ b '].map(
  (part) => part.replace('"', '\\"'),
);
const part = fc.oneof(
  fc.constantFrom(...OTHERS),
  fc.constantFrom(...MATCHES).map((match) => ` ${match} `),
);
const written = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
const space = fc.constantFrom('', ' ', '\n  ', '\t');
/** A JSON document as the text of a string of another one. */
const nested = (json: string): string => JSON.stringify(json).slice(1, -1);
const redacted = (json: string): string =>
  MATCHES.flatMap((match) => [match, nested(match)]).reduce(
    (text, match) => text.replaceAll(match, '[EMAIL]'),
    json,
  );

it('a redacted body parses, and its bytes outside of the spans stay', async () => {
  await fc.assert(
    fc.asyncProperty(written, written, written, space, async (system, text, argument, gap) => {
      const call = `{"id":"c","type":"function","function":{"name":"f","arguments":"${nested(`{${gap}"a": 1.0, "b":"${argument}"}`)}"}}`;
      const json =
        `{${gap}"model":${gap}"acme/one","temperature": 1.0e0,"messages":[{"role":"system","content":"${system}"},` +
        `{"role":"user","content":[{"type":"text",${gap}"text":"${text}"}]},{"role":"assistant","tool_calls":[${call}]}]${gap}}`;
      const body = JSON.parse(json) as Readonly<Record<string, unknown>>;
      const filtered = await filters.apply(caller, body, Buffer.from(json));
      expect(filtered.bytes.toString()).toBe(redacted(json));
      expect(filtered.body).toEqual(JSON.parse(redacted(json)));
      expect(filtered.isRedacted).toBe(redacted(json) !== json);
    }),
  );
});
