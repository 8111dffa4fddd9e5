// What Snowflake's SQL API answers, and what that means for the rows that were sent. Source: delivery.md 4.
import type {
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  DeliveryResponse,
} from '../shared/delivery.js';
import { answerMembers, describeAnswer, outcomeOfStatus } from '../shared/delivery-outcome.js';

const HANDLE = /^[\w-]{1,128}$/;
/** Counts the questions after one statement; the API itself pays it no heed. */
const QUESTION_HEADER = 'x-signalbox-question';
const FIRST_DELAY = 1000;
const MAX_DELAY = 30_000;

export function readSnowflakeAnswer(
  response: DeliveryResponse,
  request: DeliveryRequest,
  context: DeliveryContext,
): DeliveryOutcome {
  const { status } = response;
  if (status === 202) return askAgain(response, request);
  if (status === 422) return readFailure(response);
  // The API forgets the handles of statements after a while.
  const isForgotten = status === 404 && request.method === 'GET';
  return outcomeOfStatus(response, context, {
    delivered: () => status === 200,
    retried: () => isForgotten || status === 408 || status === 429 || status >= 500,
  });
}

/** The statement goes on; sending it again would run it twice. */
function askAgain(response: DeliveryResponse, { url, headers }: DeliveryRequest): DeliveryOutcome {
  const { statementHandle } = answerMembers(response);
  if (typeof statementHandle !== 'string' || !HANDLE.test(statementHandle)) {
    return { outcome: 'retry', reason: `${describeAnswer(response)} (without a statement handle)` };
  }
  const asked = Number(headers[QUESTION_HEADER] ?? 0);
  return {
    outcome: 'continue',
    delay: Math.min(MAX_DELAY, FIRST_DELAY * 2 ** asked),
    request: {
      method: 'GET',
      url: new URL(`/api/v2/statements/${statementHandle}`, url).href,
      headers: { ...headers, [QUESTION_HEADER]: String(asked + 1) },
    },
  };
}

/** 57014: cancelled, out of time, or too many waiting for a lock. 40: rolled back. XX: Snowflake's own mistake. */
const PASSING_STATE = /^(?:57014|40|XX)/;
/** Codes of compiling (a table, a column or a privilege is missing) and of the session (warehouse, database). */
const BLOCKING_CODE = /^0[09]/;

function readFailure(response: DeliveryResponse): DeliveryOutcome {
  const members = answerMembers(response);
  const code = codeIn(members.code);
  const state = codeIn(members.sqlState);
  const reason = describeAnswer(response);
  if (PASSING_STATE.test(state)) return { outcome: 'retry', reason };
  if (BLOCKING_CODE.test(code)) return { outcome: 'blocked', reason };
  // Not in Snowflake's words: they quote the value.
  return { outcome: 'refused', reason: `HTTP 422: Snowflake's error ${code}, SQL state ${state}` };
}

const CODE = /^\w{1,10}$/;

/** Whatever answers in Snowflake's place may put anything where a code belongs. */
function codeIn(member: unknown): string {
  const code = typeof member === 'number' ? String(member) : member;
  return typeof code === 'string' && CODE.test(code) ? code : 'unknown';
}
