// Reads the responses of OTLP receivers. Sources: docs/contract.md#deliveries, the OTLP specification.
import type { DeliveryContext, DeliveryOutcome, DeliveryResponse } from '../shared/delivery.js';
import { oneLine, outcomeOfStatus } from '../shared/delivery-outcome.js';
import type { StatusRules } from '../shared/delivery-outcome.js';

// Responses are small. Beyond this size the body is ignored.
const MAX_READ = 65_536;

/**
 * Reads the outcome of a request. Spans that a success rejects are lost: they must not be sent again. The specification
 * uses 200 for success and retries 429, 502, 503 and 504 only. Receivers and gateways that answer another 2xx have
 * accepted the spans as well, and platforms answer 408, 500 and 520 to 530 to passing failures.
 */
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
  // A message without a count is a warning.
  return message === '' ? outcome : { ...outcome, reason: message };
}

function partialSuccessOf(body: Buffer): { rejectedSpans: number; message: string } {
  const partial = memberOf(parseJson(body), 'partialSuccess', 'partial_success');
  // JSON writes a 64-bit number as a string. Any other value is not a count.
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

/** Returns a member by either name: some receivers use the names of the protocol's source. */
function memberOf(value: unknown, ...names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = value as Readonly<Record<string, unknown>>;
  const name = names.find((candidate) => Object.hasOwn(members, candidate));
  return name === undefined ? undefined : members[name];
}
