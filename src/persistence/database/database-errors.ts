// Translates database errors into those of the service. No other file reads SQLSTATE or Prisma codes.
import type { BatchFailures } from '../../concurrency/micro-batcher.js';
import { AppError } from '../../domain/errors.js';
import { Prisma } from '../generated/client.js';

/** A row with the same unique key exists. */
export class UniqueViolation extends Error {}

/** The database rejected a value: a retry of the same statement cannot help. */
export class RejectedValue extends Error {}

/** A lease had lapsed when a call was settled that held a part of it. Nothing was written. */
export class LapsedLease extends AppError {
  constructor(
    readonly leaseId: string,
    cause: unknown,
  ) {
    super('unavailable', { detail: 'the money that was reserved for the call has lapsed', cause });
  }
}

/** How a micro-batch that is one statement fails. */
export const STATEMENT_FAILURES: BatchFailures = {
  isFaultOfOneItem: (error) =>
    error instanceof RejectedValue ||
    error instanceof LapsedLease ||
    (error instanceof AppError && error.code === 'invalid_request'),
  overflow: () =>
    new AppError('unavailable', {
      detail: 'too many calls wait for the database',
      headers: { 'Retry-After': '1' },
    }),
};

// Prisma: credentials rejected, no such database, unreachable, timed out, no TLS, connection closed, pool exhausted,
// transaction not begun or not ended in time, too many connections.
const UNREACHABLE_PRISMA_CODES = new Set(
  'P1000 P1003 P1010 P1001 P1002 P1008 P1011 P1017 P2024 P2028 P2037'.split(' '),
);
// ENOENT: the socket of a server on the same machine.
const UNREACHABLE_SYSTEM_CODES = /^(?:ECONN|EHOST|ENET|EAI_)|^(?:ENOTFOUND|ENOENT|EPIPE|ETIMEDOUT)$/;
// Classes 08 (connection), 28 (credentials) and 57P (server shutting down or starting), too many connections,
// read-only standby, no such database, a database that accepts no connections, a lock time-out.
const UNREACHABLE_STATES = /^(08|28|57P|53300|25006|3D000|55000|55P03)/;
// Class 53 without 53300: no disk, no memory.
const EXHAUSTED_STATES = /^53(?!300)/;
// Class 22 (data) and 23 (constraint); a value that is too long for an index.
const REJECTED_STATES = /^(?:2[23]|54000)/;
// Raised by triggers of the migrations on a creation in a deleted workspace.
const DELETED_WORKSPACE_STATE = 'SB001';
// Raised by settle_calls; its detail is the id of the lease.
const LAPSED_LEASE_STATE = 'SB002';
// A function of the migrations is missing.
const UNDEFINED_FUNCTION_STATE = '42883';
// lock_timeout expired.
const LOCK_TIMEOUT_STATE = '55P03';
// statement_timeout expired.
const CANCELED_STATE = '57014';
// Read-only transaction; the database is starting, or in recovery.
const MISDIRECTED_STATES = new Set(['25006', '57P03']);
// Messages of the driver that come without a code.
const UNREACHABLE_MESSAGE =
  /connection terminated|timeout exceeded|timeout expired|query read timeout|client has encountered a connection|disconnected before secure/i;

export function translateDatabaseError(error: unknown): unknown {
  // Not `instanceof Error`: sockets may belong to another realm than this code.
  if (typeof error !== 'object' || error === null || error instanceof AppError) return error;
  // A transaction passes on errors that were translated within it.
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
  if (codes.includes(LAPSED_LEASE_STATE)) {
    return new LapsedLease(String((error as { detail?: unknown }).detail), error);
  }
  if (codes.includes(CANCELED_STATE)) {
    return new AppError('unavailable', {
      detail: 'the database did not answer in time',
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  if (codes.some((code) => code.length === 5 && REJECTED_STATES.test(code))) {
    return new RejectedValue('the database rejected a value', { cause: error });
  }
  return error;
}

/** The error for a workspace that the account does not have, or that was deleted. */
export function noSuchWorkspace(cause?: unknown): AppError {
  return new AppError('invalid_request', { detail: 'workspace_id: no such workspace', cause });
}

export function isUndefinedFunction(error: unknown): boolean {
  return codesOf(error).includes(UNDEFINED_FUNCTION_STATE);
}

/** Its time-out has ended the statement. Nothing was changed. */
export function isCanceled(error: unknown): boolean {
  return codesOf(error).includes(CANCELED_STATE);
}

export function isLockTimeout(error: unknown): boolean {
  return codesOf(error).includes(LOCK_TIMEOUT_STATE);
}

/**
 * The server is a standby, or starting: it has changed nothing, and another connection may lead to the primary. A
 * server that is shutting down is no such case: it may have committed the statement.
 */
export function isMisdirected(error: unknown): boolean {
  return codesOf(error).some((code) => MISDIRECTED_STATES.has(code));
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
