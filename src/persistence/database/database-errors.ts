// What an error of the database means for the service. Nobody else looks at SQLSTATE or Prisma codes.
import type { BatchFailures } from '../../concurrency/micro-batcher.js';
import { AppError } from '../../domain/errors.js';
import { Prisma } from '../generated/client.js';

/** A row of the same unique key is there already. */
export class UniqueViolation extends Error {}

/** The database refused a value: retrying the same statement cannot help. */
export class RejectedValue extends Error {}

/** How a micro-batch that is one statement fails. */
export const STATEMENT_FAILURES: BatchFailures = {
  isFaultOfOneItem: (error) =>
    error instanceof RejectedValue || (error instanceof AppError && error.code === 'invalid_request'),
  overflow: () =>
    new AppError('unavailable', {
      detail: 'too many calls wait for the database',
      headers: { 'Retry-After': '1' },
    }),
};

// Prisma: refused our credentials or has no such database, unreachable, timed out, no TLS, closed the connection, pool
// exhausted, transaction not begun or not ended in time, too many connections.
const UNREACHABLE_PRISMA_CODES = new Set(
  'P1000 P1003 P1010 P1001 P1002 P1008 P1011 P1017 P2024 P2028 P2037'.split(' '),
);
// ENOENT: the socket of a server on the same machine.
const UNREACHABLE_SYSTEM_CODES = /^(?:ECONN|EHOST|ENET|EAI_)|^(?:ENOTFOUND|ENOENT|EPIPE|ETIMEDOUT)$/;
// Classes 08 (connection), 28 (credentials) and 57P (server is going down or coming up), too many connections, read-only
// standby, no such database, a database that takes no connections, a lock that did not come in time.
const UNREACHABLE_STATES = /^(08|28|57P|53300|25006|3D000|55000|55P03)/;
// Class 53: no disk, no memory; what is left of it when too many connections are told apart.
const EXHAUSTED_STATES = /^53(?!300)/;
// Class 22 (data) and 23 (constraint).
const REJECTED_STATES = /^2[23]/;
// Something was to be made in a deleted workspace: raised by triggers of the migrations.
const DELETED_WORKSPACE_STATE = 'SB001';
// A function that the migrations make is not there.
const UNDEFINED_FUNCTION_STATE = '42883';
// A lock was not had within lock_timeout.
const LOCK_TIMEOUT_STATE = '55P03';
// The statement ran into its time-out.
const CANCELED_STATE = '57014';
// What the driver says without a code.
const UNREACHABLE_MESSAGE =
  /connection terminated|timeout exceeded|timeout expired|query read timeout|client has encountered a connection|disconnected before secure/i;

export function translateDatabaseError(error: unknown): unknown {
  // Not `instanceof Error`: sockets may belong to another realm than this code.
  if (typeof error !== 'object' || error === null || error instanceof AppError) return error;
  // A transaction hands on what was translated in it.
  if (error instanceof UniqueViolation || error instanceof RejectedValue) return error;
  if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') {
    return new UniqueViolation('unique key violated', { cause: error });
  }
  const codes = codesOf(error);
  const isUnreachable =
    UNREACHABLE_MESSAGE.test(String((error as { message?: unknown }).message)) ||
    codes.some(
      (code) =>
        UNREACHABLE_PRISMA_CODES.has(code) ||
        UNREACHABLE_SYSTEM_CODES.test(code) ||
        UNREACHABLE_STATES.test(code),
    );
  if (isUnreachable) {
    return new AppError('unavailable', {
      detail: 'the database cannot be reached',
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  if (codes.some((code) => EXHAUSTED_STATES.test(code))) {
    return new AppError('unavailable', {
      detail: 'the database has no room left',
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  if (codes.includes(DELETED_WORKSPACE_STATE)) {
    return noSuchWorkspace(error);
  }
  if (codes.includes(CANCELED_STATE)) return new AppError('operation_timeout', { cause: error });
  if (codes.some((code) => code.length === 5 && REJECTED_STATES.test(code))) {
    return new RejectedValue('the database refused a value', { cause: error });
  }
  return error;
}

/** What a caller is told who names a workspace that the account has not, or has no more. */
export function noSuchWorkspace(cause?: unknown): AppError {
  return new AppError('invalid_request', { detail: 'workspace_id: no such workspace', cause });
}

export function isUndefinedFunction(error: unknown): boolean {
  return codesOf(error).includes(UNDEFINED_FUNCTION_STATE);
}

export function isLockTimeout(error: unknown): boolean {
  return codesOf(error).includes(LOCK_TIMEOUT_STATE);
}

/** Every code in an error and its causes; Prisma wraps the driver's error in its own. */
function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const { code, originalCode, cause, meta, errors } = error as Record<string, unknown>;
  const own = [code, originalCode].filter((value) => typeof value === 'string');
  const driverError = (meta as Record<string, unknown> | undefined)?.['driverAdapterError'];
  const nested = [cause, driverError, ...(Array.isArray(errors) ? errors : [])];
  return [...own, ...nested.flatMap((value) => codesOf(value, depth + 1))];
}
