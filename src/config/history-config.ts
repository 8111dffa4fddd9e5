// The address of the ClickHouse server that keeps the history of the log (docs/operating.md#history).
import { ConfigError } from './environment-reader.js';
import type { EnvironmentReader } from './environment-reader.js';

const VARIABLE = 'HISTORY_CLICKHOUSE_URL';
const DEFAULT_DATABASE = 'signalbox';
const DEFAULT_USER = 'default';
// Part of statements, where no parameter can stand.
const DATABASE_NAME = /^[A-Za-z_]\w{0,63}$/;

export interface HistoryConfig {
  readonly origin: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

export function readHistoryConfig(read: EnvironmentReader): { readonly history?: HistoryConfig } {
  const { address } = read.optional('address', VARIABLE);
  if (address === undefined) return {};
  const history = parse(address);
  if (history === null) {
    throw new ConfigError(
      `${VARIABLE} must be an address such as https://user:password@clickhouse:8443/signalbox: the path is the name of the database, in letters, digits and _`,
    );
  }
  return { history };
}

function parse(address: string): HistoryConfig | null {
  if (!URL.canParse(address)) return null;
  const { protocol, origin, pathname, search, hash, username, password } = new URL(address);
  const database = pathname.slice(1) || DEFAULT_DATABASE;
  if (!['http:', 'https:'].includes(protocol) || search !== '' || hash !== '') return null;
  if (!DATABASE_NAME.test(database)) return null;
  try {
    return {
      origin,
      database,
      username: decodeURIComponent(username) || DEFAULT_USER,
      password: decodeURIComponent(password),
    };
  } catch {
    return null;
  }
}
