// An address of PostgreSQL with one server or several: postgresql://user:password@a:5432,b:5432/name. The driver knows
// neither a list of servers nor `target_session_attrs`.

/** The servers that the service uses, as in libpq. `primary`: one that is no standby. */
export type ServerChoice = 'any' | 'read-write' | 'primary';

export interface DatabaseServer {
  readonly host: string;
  readonly port: number;
  /** The address with this server alone, for the driver. */
  readonly url: string;
}

export interface DatabaseAddress {
  /** At least one. */
  readonly servers: readonly [DatabaseServer, ...DatabaseServer[]];
  readonly choice: ServerChoice;
}

const CHOICES = ['any', 'read-write', 'primary'] as const;
const CHOICE_PARAMETER = 'target_session_attrs';
const DEFAULT_PORT = 5432;
// Scheme with user and password, servers, the rest. A password may contain a comma.
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([/?#].*)?$/s;

/** Throws an error that continues the name of the variable: `must ...`. It never shows the address. */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [, prefix = '', hosts = '', rest = ''] = PARTS.exec(text) ?? [];
  if (prefix === '') throw new Error('must be an address that begins with postgresql://');
  const [first, ...others] = hosts.split(',').map((host) => parseServer(prefix, host, rest));
  if (!first) throw new Error('must name a server');
  const { searchParams } = new URL(first.url);
  // A parameter of the driver that replaces the server.
  const isReplaced = searchParams.has('host') || searchParams.has('port');
  if (isReplaced && (others.length > 0 || searchParams.get('host')?.includes(',') === true))
    throw new Error('must list its servers before the path: postgresql://a:5432,b:5432/name');
  const wanted = searchParams.get(CHOICE_PARAMETER) ?? (others.length === 0 ? 'any' : 'read-write');
  const choice = CHOICES.find((candidate) => candidate === wanted);
  if (!choice)
    throw new Error(`must have a ${CHOICE_PARAMETER} of any, read-write or primary: the service writes`);
  return { servers: [first, ...others], choice };
}

function parseServer(prefix: string, host: string, rest: string): DatabaseServer {
  const url = `${prefix}${host}${rest}`;
  if (!URL.canParse(url)) throw new Error('must be an address such as postgresql://user@host:5432/signalbox');
  const { hostname, port } = new URL(url);
  if (hostname === '' && host !== '')
    throw new Error('must be an address such as postgresql://user@host:5432/signalbox');
  return {
    host: decodeURIComponent(hostname.replace(/^\[(.*)\]$/, '$1')),
    port: port === '' ? DEFAULT_PORT : Number(port),
    url,
  };
}
