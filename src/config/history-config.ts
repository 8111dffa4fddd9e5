// The ClickHouse server that keeps the history of the log, and what goes there (docs/operating.md#history).
import { ConfigError } from './environment-reader.js';
import type { EnvironmentReader } from './environment-reader.js';

const VARIABLE = 'HISTORY_CLICKHOUSE_URL';
const CONTENTS_VARIABLE = 'HISTORY_CONTENTS';
const DEFAULT_DATABASE = 'signalbox';
const DEFAULT_USER = 'default';
// Part of statements, where no parameter can stand.
const DATABASE_NAME = /^[A-Za-z_]\w{0,63}$/;

interface HistoryAddress {
  readonly origin: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

export interface HistoryConfig extends HistoryAddress {
  /** Whether contents are copied as well, and read from there. */
  readonly hasContents: boolean;
}

/** `contentHours`: the time that contents are stored for, until which they can be copied. */
export function readHistoryConfig(
  read: EnvironmentReader,
  contentHours: number,
): { readonly history?: HistoryConfig } {
  const { address } = read.optional('address', VARIABLE);
  const hasContents = read.choice(CONTENTS_VARIABLE, ['true', 'false'], 'false') === 'true';
  if (hasContents && address === undefined) {
    throw new ConfigError(`${CONTENTS_VARIABLE} needs ${VARIABLE}: contents are copied to the history alone`);
  }
  if (hasContents && contentHours === 0) {
    throw new ConfigError(
      `${CONTENTS_VARIABLE} needs CONTENT_RETENTION_HOURS of at least 1: contents are stored until they are copied`,
    );
  }
  if (address === undefined) return {};
  const parsed = parse(address);
  if (parsed === null) {
    throw new ConfigError(
      `${VARIABLE} must be an address such as https://user:password@clickhouse:8443/signalbox: the path is the name of the database, in letters, digits and _`,
    );
  }
  return { history: { ...parsed, hasContents } };
}

function parse(address: string): HistoryAddress | null {
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
