// ClickHouse's HTTP interface before chdb, which is the engine alone: users, parameters of the address, exceptions.
import type { ReceivedDelivery, ReceiverResult } from '../../test/support/receivers/receiver.js';
import { loadChdb } from './engines.js';

export const USER = { username: 'signalbox', password: 'correcthorse-battery-staple' };

// Defaults of earlier engines: a delivery must set every option that it relies on.
const OLD_DEFAULTS = {
  input_format_skip_unknown_fields: '0',
  date_time_input_format: 'basic',
  async_insert: '1',
};

// http_max_field_value_size, of the interface and not of the engine.
const MAX_FIELD_BYTES = 131_072;

const STATUS_OF: Readonly<Record<string, number>> = { 60: 404, 81: 404, 497: 403, 516: 403 };

export interface ClickhouseFront {
  check(request: ReceivedDelivery): Promise<ReceiverResult>;
  /** Runs a statement as an administrator; the rows as objects. */
  query(statement: string): readonly Readonly<Record<string, unknown>>[];
  /** Settings of the server from now on. */
  configure(settings: Readonly<Record<string, string>>): void;
  close(): void;
}

export function startClickhouse(): ClickhouseFront {
  const { Session } = loadChdb();
  const session = new Session();
  let configured: Readonly<Record<string, string>> = {};

  const run = (statement: string, settings: Readonly<Record<string, string>>): string => {
    // One at a time: the engine has a limit for the length of a statement, the interface none for all parameters.
    for (const [name, value] of Object.entries({ ...OLD_DEFAULTS, ...configured, ...settings }))
      session.query(`SET ${name} = '${value.replace(/['\\]/g, '\\$&')}'`);
    return session.query(statement, 'TabSeparated');
  };

  return {
    check: async ({ method, path, headers, bytes }) => {
      const { pathname, searchParams } = new URL(path, 'http://clickhouse');
      if (pathname !== '/')
        return { reply: { status: 404, body: `There is no handle ${pathname}` }, stored: [] };
      if (headers['x-clickhouse-user'] !== USER.username || headers['x-clickhouse-key'] !== USER.password) {
        return exception(
          'Code: 516. DB::Exception: signalbox: Authentication failed. (AUTHENTICATION_FAILED)',
        );
      }
      const form = await readForm(headers['content-type'], bytes);
      if (Object.values(form ?? {}).some((value) => Buffer.byteLength(value) > MAX_FIELD_BYTES)) {
        return exception(
          'Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field value too long (version 26.7.2.1)',
        );
      }
      const {
        database = 'default',
        query = '',
        // An option of the interface, not of the engine.
        wait_end_of_query: _isWhole,
        ...settings
      } = { ...Object.fromEntries(searchParams), ...form };
      const body = form === null ? bytes.toString('utf8') : '';
      if (method === 'GET' && /^insert/i.test(query)) {
        return exception('Code: 164. DB::Exception: Cannot execute query in readonly mode. (READONLY)');
      }
      try {
        session.query(`USE \`${database.replace(/[\\`]/g, '\\$&')}\``);
        return {
          reply: { status: 200, body: run(`${query} ${body}`, settings) },
          stored: [],
        };
      } catch (error) {
        return exception((error as Error).message.replace(/^Query failed: /, ''));
      }
    },
    query: (statement) =>
      session
        .query(statement, 'JSONEachRow')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    configure: (settings) => {
      configured = settings;
    },
    close: () => session.cleanup(),
  };
}

/** The statement and its parameters as a form; null: the body is of rows. */
async function readForm(
  type: string | undefined,
  bytes: Buffer,
): Promise<Readonly<Record<string, string>> | null> {
  if (type?.startsWith('multipart/form-data') !== true) return null;
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  return Object.fromEntries([...form].map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

function exception(message: string): ReceiverResult {
  const code = /^(?:Code|Poco::Exception\. Code): (\d+)[.,]/.exec(message)?.[1] ?? '0';
  return {
    reply: {
      status: STATUS_OF[code] ?? 500,
      headers: { 'x-clickhouse-exception-code': code },
      body: message,
    },
    stored: [],
  };
}
