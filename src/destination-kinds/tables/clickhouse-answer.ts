// Maps ClickHouse's exceptions to outcomes. Sources: docs/contract.md#deliveries, ClickHouse's ErrorCodes.cpp.
import type { DeliveryContext, DeliveryOutcome, DeliveryResponse } from '../shared/delivery.js';
import { describeAnswer, outcomeOfStatus } from '../shared/delivery-outcome.js';

export const EXCEPTIONS: Readonly<Record<'blocked' | 'refused' | 'retry', ReadonlyMap<number, string>>> = {
  // An operator has to change the config, the table or the user's rights.
  blocked: new Map([
    [16, 'NO_SUCH_COLUMN_IN_TABLE'],
    [20, 'NUMBER_OF_COLUMNS_DOESNT_MATCH'],
    [36, 'BAD_ARGUMENTS'],
    [47, 'UNKNOWN_IDENTIFIER'],
    [48, 'NOT_IMPLEMENTED'],
    [60, 'UNKNOWN_TABLE'],
    [62, 'SYNTAX_ERROR'],
    [73, 'UNKNOWN_FORMAT'],
    [81, 'UNKNOWN_DATABASE'],
    [115, 'UNKNOWN_SETTING'],
    [164, 'READONLY'],
    [192, 'UNKNOWN_USER'],
    [193, 'WRONG_PASSWORD'],
    [194, 'REQUIRED_PASSWORD'],
    [195, 'IP_ADDRESS_NOT_ALLOWED'],
    [291, 'DATABASE_ACCESS_DENIED'],
    [452, 'SETTING_CONSTRAINT_VIOLATION'],
    [497, 'ACCESS_DENIED'],
    [516, 'AUTHENTICATION_FAILED'],
  ]),
  // One of the rows is at fault.
  refused: new Map([
    [6, 'CANNOT_PARSE_TEXT'],
    [25, 'CANNOT_PARSE_ESCAPE_SEQUENCE'],
    [26, 'CANNOT_PARSE_QUOTED_STRING'],
    [27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED'],
    [38, 'CANNOT_PARSE_DATE'],
    [41, 'CANNOT_PARSE_DATETIME'],
    [53, 'TYPE_MISMATCH'],
    [69, 'ARGUMENT_OUT_OF_BOUND'],
    [70, 'CANNOT_CONVERT_TYPE'],
    [72, 'CANNOT_PARSE_NUMBER'],
    [117, 'INCORRECT_DATA'],
    [131, 'TOO_LARGE_STRING_SIZE'],
    [349, 'CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN'],
    [407, 'DECIMAL_OVERFLOW'],
    [467, 'CANNOT_PARSE_BOOL'],
    [469, 'VIOLATED_CONSTRAINT'],
    [691, 'UNKNOWN_ELEMENT_OF_ENUM'],
  ]),
  // The server is overloaded, lacks a resource or other replicas, or the request was cut off.
  retry: new Map([
    [3, 'UNEXPECTED_END_OF_FILE'],
    [32, 'ATTEMPT_TO_READ_AFTER_EOF'],
    [33, 'CANNOT_READ_ALL_DATA'],
    [159, 'TIMEOUT_EXCEEDED'],
    [160, 'TOO_SLOW'],
    [201, 'QUOTA_EXCEEDED'],
    [202, 'TOO_MANY_SIMULTANEOUS_QUERIES'],
    [203, 'NO_FREE_CONNECTION'],
    [209, 'SOCKET_TIMEOUT'],
    [210, 'NETWORK_ERROR'],
    [236, 'ABORTED'],
    [241, 'MEMORY_LIMIT_EXCEEDED'],
    [242, 'TABLE_IS_READ_ONLY'],
    [243, 'NOT_ENOUGH_SPACE'],
    [252, 'TOO_MANY_PARTS'],
    [279, 'ALL_CONNECTION_TRIES_FAILED'],
    [285, 'TOO_FEW_LIVE_REPLICAS'],
    [286, 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE'],
    [319, 'UNKNOWN_STATUS_OF_INSERT'],
    [394, 'QUERY_WAS_CANCELLED'],
    [439, 'CANNOT_SCHEDULE_TASK'],
    [999, 'KEEPER_EXCEPTION'],
  ]),
};

export function readClickhouseAnswer(response: DeliveryResponse, context: DeliveryContext): DeliveryOutcome {
  const code = exceptionCodeOf(response);
  if (code === null) {
    return outcomeOfStatus(response, context, { delivered: (status) => status === 200 });
  }
  if (EXCEPTIONS.blocked.has(code)) return { outcome: 'blocked', reason: describeAnswer(response) };
  const name = EXCEPTIONS.refused.get(code);
  // The server's text quotes the row, so it is not repeated.
  if (name !== undefined) return { outcome: 'refused', reason: `ClickHouse's exception ${code} ${name}` };
  const isPassing = EXCEPTIONS.retry.has(code);
  // An exception may follow a status of 200; nothing is delivered in either case.
  return outcomeOfStatus(response, context, {
    delivered: () => false,
    retried: (status) => isPassing || status < 300 || status >= 500,
  });
}

/** ClickHouse's exception code; null for a response without an exception. */
export function exceptionCodeOf({ headers, body }: DeliveryResponse): number | null {
  const header = headers['x-clickhouse-exception-code'];
  const code =
    typeof header === 'string' ? header : /^Code: (\d+)\./.exec(body.toString('latin1', 0, 32))?.[1];
  return code !== undefined && /^\d{1,6}$/.test(code) ? Number(code) : null;
}
