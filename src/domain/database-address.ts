// An address of PostgreSQL as libpq writes it, with one server or several: postgresql://user:password@a:5432,b:5432/name.
// The driver knows neither a list of servers nor `target_session_attrs`, and cuts raw passwords into other parts.

/** The servers that the service uses, as in libpq. `primary`: one that is no standby. */
export type ServerChoice = 'any' | 'read-write' | 'primary';

export interface DatabaseServer {
  /** A name, an IP address or the folder of a socket; empty: the driver's default. */
  readonly host: string;
  readonly port?: number | undefined;
}

export interface DatabaseAddress {
  /** At least one. */
  readonly servers: readonly [DatabaseServer, ...DatabaseServer[]];
  readonly choice: ServerChoice;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** Holds the tables; absent: the first one of the role's search path. */
  readonly schema?: string;
  readonly bindsChannel: boolean;
  /** Parameters for the driver: TLS, `options`, `application_name` and the like. */
  readonly parameters: Readonly<Record<string, string>>;
}

const CHOICES = ['any', 'read-write', 'primary'] as const;
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const MAX_PORT = 65_535;

// Authority, path, query. A fragment does not exist: libpq takes `#` for a character, and the driver cuts the address there.
const PARTS = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s;
const SERVER = /^(?:\[([^\]]+)\]|([^\s:[\]]*))(?::(\d*))?$/;
const BADLY_ENCODED = /#|%(?![0-9a-f]{2})/i;

const MALFORMED =
  'must look like postgresql://user:password@host:5432/name; percent-encode the password: ' +
  '/ is %2F, ? is %3F, # is %23, % is %25, @ is %40';

// The names that this file reads, those of the driver, and those that change nothing here: of libpq, of Prisma and of
// hosters. All others are refused, as libpq does: a misspelt `sslmode` must not connect without TLS.
const READ_HERE = 'user password host port dbname schema target_session_attrs channel_binding';
const OF_THE_DRIVER =
  'sslmode ssl sslcert sslkey sslrootcert sslnegotiation uselibpqcompat options application_name ' +
  'fallback_application_name statement_timeout idle_in_transaction_session_timeout query_timeout';
const WITHOUT_EFFECT =
  'connect_timeout client_encoding encoding keepalives keepalives_idle keepalives_interval keepalives_count ' +
  'tcp_user_timeout load_balance_hosts krbsrvname gsslib gssdelegation sslcompression sslsni ' +
  'connection_limit pool_timeout socket_timeout max_connection_lifetime max_idle_connection_lifetime ' +
  'single_use_connections statement_cache_size pgbouncer supa';
const DRIVER_NAMES = new Set(OF_THE_DRIVER.split(' '));
const KNOWN_NAMES = new Set(`${READ_HERE} ${OF_THE_DRIVER} ${WITHOUT_EFFECT}`.split(' '));
const REMEDIES: Readonly<Record<string, string>> = {
  service: 'write host, port, name and user into the address',
  passfile: 'set PGPASSFILE, or write the password into the address',
  hostaddr: 'write the address in place of the host',
};

/** Throws an error that continues the name of the variable: `must ...`. It never shows a part of a password. */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const [, authority, path = '', query = ''] = PARTS.exec(text) ?? [];
  if (authority === undefined)
    throw new Error(
      'must begin with postgresql://, for example postgresql://user@host:5432/name; a list such as host=a dbname=b is not read',
    );
  // A raw `/` or `?` ends the password, whose rest with the `@` is then in a later part.
  if (BADLY_ENCODED.test(text) || path.includes('@')) throw new Error(MALFORMED);
  const parameters = readParameters(query);
  const end = authority.lastIndexOf('@');
  const [user = '', ...password] = authority.slice(0, Math.max(end, 0)).split(':');
  const servers = listServers(authority.slice(end + 1), parameters);
  return {
    servers,
    choice: readChoice(parameters['target_session_attrs'], servers.length),
    ...present('user', parameters['user'] ?? decode(user)),
    ...present('password', parameters['password'] ?? decode(password.join(':'))),
    ...present('database', parameters['dbname'] ?? decode(path)),
    ...present('schema', parameters['schema']),
    bindsChannel: /^(prefer|require)$/.test(parameters['channel_binding'] ?? ''),
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => DRIVER_NAMES.has(name))),
  };
}

/** Hosts and ports in readable form. */
export function describeServers({ servers }: Pick<DatabaseAddress, 'servers'>): string {
  return servers.map(({ host, port }) => `${host || 'localhost'}:${port ?? 5432}`).join(', ');
}

function readParameters(query: string): Record<string, string> {
  // A plus is a plus in libpq, and a space in forms.
  const pairs = [...new URLSearchParams(query.replaceAll('+', '%2B'))];
  for (const [name, value] of pairs) {
    const isRefused = !KNOWN_NAMES.has(name) && !(name === 'gssencmode' && value !== 'require');
    if (!isRefused) continue;
    // With an `@` behind it, it may be the rest of a password.
    if (query.includes('@')) throw new Error(MALFORMED);
    const remedy = REMEDIES[name] ?? 'the service does not know it';
    throw new Error(`must not have the parameter ${name}: ${remedy}`);
  }
  const parameters = Object.fromEntries(pairs);
  const mode = parameters['sslmode'];
  if (mode !== undefined && !SSL_MODES.includes(mode))
    throw new Error(`must have an sslmode of ${SSL_MODES.join(', ')}`);
  return parameters;
}

function listServers(
  authority: string,
  { host, port }: Readonly<Record<string, string>>,
): DatabaseAddress['servers'] {
  const ports = port?.split(',') ?? [];
  const hosts = host?.split(',') ?? authority.split(',');
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error('must have one port, or one for each of its hosts');
  const [first, ...others] = hosts.map((text, index) => {
    const [, bracketed, plain = '', itsPort] = SERVER.exec(text) ?? [];
    // A parameter is no part of the authority: its host has no brackets and no port, and may have colons.
    const server = host === undefined ? decode(bracketed ?? plain) : text;
    if (host === undefined ? !SERVER.test(text) : text.lastIndexOf('@') > 0) throw new Error(MALFORMED);
    if (server === '' && hosts.length > 1) throw new Error('must name each of its servers');
    const number = ports[index] ?? ports[0] ?? (host === undefined ? itsPort : undefined) ?? '';
    return { host: server, port: readPort(number) };
  });
  if (!first) throw new Error(MALFORMED);
  return [first, ...others];
}

function readPort(text: string): number | undefined {
  if (text === '') return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > MAX_PORT) throw new Error(MALFORMED);
  return port;
}

function readChoice(text: string | undefined, count: number): ServerChoice {
  const wanted = text ?? (count === 1 ? 'any' : 'read-write');
  const choice = CHOICES.find((candidate) => candidate === wanted);
  if (!choice)
    throw new Error('must have a target_session_attrs of any, read-write or primary: the service writes');
  return choice;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error(MALFORMED);
  }
}

function present<Key extends string>(key: Key, value: string | undefined): { [Property in Key]?: string } {
  return (value ? { [key]: value } : {}) as { [Property in Key]?: string };
}
