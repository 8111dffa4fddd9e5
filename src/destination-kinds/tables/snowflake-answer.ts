// Reads the responses of Snowflake's SQL API. Source: docs/contract.md#deliveries.
import type {
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
} from '../shared/delivery.js';
import { answerMembers, describeAnswer, isPassing, outcomeOfStatus } from '../shared/delivery-outcome.js';

const HANDLE = /^[\w-]{1,128}$/;
/** Counts the polls of one statement; the API ignores it. */
const POLL_HEADER = 'x-signalbox-question';
const FIRST_DELAY = 1000;
const MAX_DELAY = 30_000;

export function readSnowflakeAnswer(
  response: DeliveryResponse,
  request: DeliveryRequest,
  context: DeliveryContext,
): DeliveryOutcome {
  const { status } = response;
  if (status === 202) return pollStatement(response, request);
  if (status === 422) return readFailure(response);
  // The API forgets statement handles after some time.
  const isForgotten = status === 404 && request.method === 'GET';
  return outcomeOfStatus(response, context, {
    delivered: () => status === 200,
    retried: () => isForgotten || isPassing(status),
  });
}

/** The statement continues; sending it again would run it twice. */
function pollStatement(response: DeliveryResponse, { url, headers }: DeliveryRequest): DeliveryOutcome {
  const { statementHandle } = answerMembers(response);
  if (typeof statementHandle !== 'string' || !HANDLE.test(statementHandle)) {
    return { outcome: 'retry', reason: `${describeAnswer(response)} (without a statement handle)` };
  }
  const polls = Number(headers[POLL_HEADER] ?? 0);
  return {
    outcome: 'continue',
    delay: Math.min(MAX_DELAY, FIRST_DELAY * 2 ** polls),
    request: {
      method: 'GET',
      url: new URL(`/api/v2/statements/${statementHandle}`, url).href,
      headers: { ...headers, [POLL_HEADER]: String(polls + 1) },
    },
  };
}

/** 57014: cancelled, timed out, or too many lock waiters. 40: rolled back. XX: an internal error of Snowflake. */
const PASSING_STATE = /^(?:57014|40|XX)/;
/** Codes of compilation (a missing table, column or privilege) and of the session (warehouse, database). */
const BLOCKING_CODE = /^0[09]/;

function readFailure(response: DeliveryResponse): DeliveryOutcome {
  const members = answerMembers(response);
  const code = codeIn(members.code);
  const state = codeIn(members.sqlState);
  const reason = describeAnswer(response);
  if (PASSING_STATE.test(state)) return { outcome: 'retry', reason };
  if (BLOCKING_CODE.test(code)) return { outcome: 'blocked', reason };
  // Snowflake's text quotes the value, so it is not repeated.
  return { outcome: 'refused', reason: `HTTP 422: Snowflake's error ${code}, SQL state ${state}` };
}

const CODE = /^\w{1,10}$/;

/** A proxy or another server may send any value here. */
function codeIn(member: unknown): string {
  const code = typeof member === 'number' ? String(member) : member;
  return typeof code === 'string' && CODE.test(code) ? code : 'unknown';
}
