// Reading the answers of OTLP receivers. Source: delivery.md 3, the OTLP specification.
import type { DeliveryContext, DeliveryOutcome, DeliveryResponse } from '../shared/delivery.js';
import { oneLine, outcomeOfStatus } from '../shared/delivery-outcome.js';
import type { StatusRules } from '../shared/delivery-outcome.js';

// The specification names these and no other: after any other failure the same spans must not be sent again.
const RETRIED = new Set([429, 502, 503, 504]);
// An answer says little; a longer one is not looked into.
const MAX_READ = 65_536;

// It has successes be 200; receivers, and gateways in front of them, that say another 2xx have taken the spans all the same.
export const OTLP_RULES: StatusRules = { retried: (status) => RETRIED.has(status) };

/** What an answer says of its request. Spans that a success rejects are lost for good: they must not be sent again. */
export function readOtlpAnswer(
  response: DeliveryResponse,
  context: DeliveryContext,
  rules: StatusRules,
): DeliveryOutcome {
  const outcome = outcomeOfStatus(response, context, rules);
  if (outcome.outcome !== 'delivered') return outcome;
  const { rejectedSpans, message } = partialSuccessOf(response.body);
  if (rejectedSpans > 0) {
    return { ...outcome, rejected: rejectedSpans, reason: message === '' ? 'spans were rejected' : message };
  }
  // A message alone is a warning.
  return message === '' ? outcome : { ...outcome, reason: message };
}

function partialSuccessOf(body: Buffer): { rejectedSpans: number; message: string } {
  const partial = memberOf(parseJson(body), 'partialSuccess', 'partial_success');
  // In JSON a number of 64 bits is a string; anything else is no count.
  const given = memberOf(partial, 'rejectedSpans', 'rejected_spans');
  const count = typeof given === 'number' || typeof given === 'string' ? Number(given) : 0;
  const message = memberOf(partial, 'errorMessage', 'error_message');
  return {
    rejectedSpans: Number.isSafeInteger(count) && count > 0 ? count : 0,
    message: typeof message === 'string' ? oneLine(message) : '',
  };
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0 || body.length > MAX_READ) return null;
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}

/** A member by either of its names: some receivers answer with those of the protocol's source. */
function memberOf(value: unknown, ...names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const name = names.find((candidate) => Object.hasOwn(members, candidate));
  return name === undefined ? undefined : members[name];
}
