// The server that keeps the log beyond its retention, as a port: persistence writes the statements, outbound sends them.

export interface HistoryStatement {
  readonly text: string;
  /**
   * Values of the placeholders `{name:Type}`: numbers, UUIDs, hexadecimal texts and lists of them, in which nothing needs
   * an escape.
   */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
}

export interface HistoryInsert {
  readonly statement: string;
  /** One JSON object a line. */
  readonly rows: string;
  /** Inserts with the same token are stored once. */
  readonly token: string;
}

/**
 * `too_much`: the statement exceeds its bounds. `away`: the server cannot be reached or has too much to do, and others fail
 * as well. `failed`: the server rejects the statement.
 */
export type HistoryFailureReason = 'too_much' | 'away' | 'failed';

/** Its message has no text of the server, which may quote rows. */
export class HistoryFailure extends Error {
  constructor(
    readonly reason: HistoryFailureReason,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export abstract class HistoryServer {
  /** The database on the server; null: no history is kept. */
  abstract readonly database: string | null;

  /** Resolves with the rows in the format of the statement. Throws HistoryFailure. */
  abstract query(statement: HistoryStatement): Promise<string>;

  /** Resolves when the rows are stored. Throws HistoryFailure. */
  abstract insert(insert: HistoryInsert): Promise<void>;
}
