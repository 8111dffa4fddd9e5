// The HTTP interface of the ClickHouse server that keeps the history. The operator configures its address, like those of
// providers: the URL guard, which is for addresses of customers, does not apply.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { HistoryConfig } from '../config/history-config.js';
import { headerBytes } from '../destination-kinds/shared/config-fields.js';
import { exceptionCodeOf } from '../destination-kinds/tables/clickhouse-answer.js';
import { OversizedAnswer } from '../outbound/exchange/exchange.js';
import type { OutboundResponse } from '../outbound/exchange/exchange.js';
import { HttpClient } from '../outbound/http-client.js';

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

// Milliseconds; a statement has a shorter time on the server.
const QUERY_TIMEOUT = 7_000;
const INSERT_TIMEOUT = 30_000;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
// TOO_MANY_ROWS, TIMEOUT_EXCEEDED, MEMORY_LIMIT_EXCEEDED, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES
const TOO_MUCH = new Set([158, 159, 241, 307, 396]);
// QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, NO_FREE_CONNECTION, SOCKET_TIMEOUT, NETWORK_ERROR,
// ALL_CONNECTION_TRIES_FAILED, CANNOT_SCHEDULE_TASK
const AWAY = new Set([201, 202, 203, 209, 210, 279, 439]);
// An exception then has its status instead of following the first rows.
const WHOLE_ANSWERS = { wait_end_of_query: '1' };
const INSERT_SETTINGS = {
  // The response comes when the rows are stored. An asynchronous insert would ignore the deduplication token.
  async_insert: '0',
  input_format_skip_unknown_fields: '0',
  date_time_input_format: 'basic',
};

interface Sent {
  readonly settings: Readonly<Record<string, string>>;
  readonly type: string;
  readonly body: string;
  readonly timeout: number;
}

@Injectable()
export class ClickhouseClient {
  private readonly config: HistoryConfig | null;

  constructor(
    { history }: AppConfig,
    private readonly http: HttpClient,
  ) {
    this.config = history ?? null;
  }

  /** The database on the server; null: no history is kept. */
  get database(): string | null {
    return this.config?.database ?? null;
  }

  /**
   * Resolves with the rows in the format of the statement. Throws HistoryFailure. It sends a form: lists of workspaces are longer than
   * many proxies allow an address to be.
   */
  async query({ text, parameters = {}, settings = {} }: HistoryStatement): Promise<string> {
    const boundary = randomUUID();
    const fields = [
      ['query', text] as const,
      ...Object.entries(parameters).map(([name, value]) => [`param_${name}`, value] as const),
    ];
    const parts = fields.map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const { body } = await this.send({
      settings: { ...WHOLE_ANSWERS, ...settings },
      type: `multipart/form-data; boundary=${boundary}`,
      body: `${parts.join('')}--${boundary}--\r\n`,
      timeout: QUERY_TIMEOUT,
    });
    return body.toString('utf8');
  }

  /** Resolves when the rows are stored. Throws HistoryFailure. */
  async insert({ statement, rows, token }: HistoryInsert): Promise<void> {
    await this.send({
      settings: { ...WHOLE_ANSWERS, ...INSERT_SETTINGS, query: statement, insert_deduplication_token: token },
      type: 'application/x-ndjson',
      body: rows,
      timeout: INSERT_TIMEOUT,
    });
  }

  private async send({ settings, type, body, timeout }: Sent): Promise<OutboundResponse> {
    if (this.config === null) throw new HistoryFailure('failed', 'no history is configured');
    const { origin, username, password } = this.config;
    const request = {
      method: 'POST',
      url: `${origin}/?${new URLSearchParams(settings).toString()}`,
      headers: {
        'content-type': type,
        'x-clickhouse-user': headerBytes(username),
        'x-clickhouse-key': headerBytes(password),
      },
      body,
    } as const;
    const response = await this.http
      .send(request, { timeout, maxResponseBytes: MAX_RESPONSE_BYTES })
      .catch((error: unknown) => {
        const reason = error instanceof OversizedAnswer ? 'too_much' : 'away';
        throw new HistoryFailure(reason, `ClickHouse gave no usable answer: ${messageOf(error)}`);
      });
    const code = exceptionCodeOf(response);
    if (response.status === 200 && code === null) return response;
    throw new HistoryFailure(
      reasonOf(response.status, code),
      `ClickHouse answered ${response.status}${code === null ? '' : ` with exception ${code}`}${nameIn(response)}`,
    );
  }
}

/** Without an exception a proxy or a server that is not ready has answered. */
function reasonOf(status: number, code: number | null): HistoryFailureReason {
  if (code === null) return status === 429 || status >= 500 ? 'away' : 'failed';
  if (TOO_MUCH.has(code)) return 'too_much';
  return AWAY.has(code) ? 'away' : 'failed';
}

/** The last words of an exception are its name; the text before it may quote rows. */
function nameIn({ body }: OutboundResponse): string {
  const [, name] =
    /\(([A-Z][A-Z_]{2,60})\)\s*(?:\(version [^)]*\)?\)\s*)?$/.exec(body.toString('latin1', 0, 10_000)) ?? [];
  return name === undefined ? '' : ` ${name}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
