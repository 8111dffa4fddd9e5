// The driver's options for a server of an address.
import type pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import type { DatabaseAddress, DatabaseServer } from '../../domain/database-address.js';

// Modes that the driver warns about, and then takes for the strictest one, in eight lines.
const STRICT_MODES = new Set(['allow', 'prefer', 'require', 'verify-ca']);
/** `ssl` is the driver's own parameter, beside libpq's `sslmode`. */
const MODES_OF_SSL: Readonly<Record<string, string>> = {
  true: 'verify-full',
  '1': 'verify-full',
  false: 'disable',
  '0': 'disable',
  'no-verify': 'no-verify',
};

/** Reads the files of certificates each time, so that a new connection uses those that were renewed. */
export function driverOptions(address: DatabaseAddress, server: DatabaseServer): pg.ClientConfig {
  const { user, password, database } = address;
  const query = new URLSearchParams(withStrictMode(address.parameters)).toString();
  return {
    ...toClientConfig(parse(`postgresql:///?${query}`)),
    // Undefined: the variable PGHOST and the like, as for psql.
    host: server.host || undefined,
    port: server.port,
    user,
    password,
    database,
    enableChannelBinding: address.bindsChannel,
  };
}

function withStrictMode({
  ssl,
  ...parameters
}: DatabaseAddress['parameters']): DatabaseAddress['parameters'] {
  const { sslrootcert, ...others } = parameters;
  // The authorities that Node knows, as without the parameter.
  const usesSystemRoots = sslrootcert === 'system';
  const given = parameters['sslmode'] ?? (ssl === undefined ? undefined : MODES_OF_SSL[ssl]);
  const mode = given ?? (usesSystemRoots ? 'verify-full' : undefined);
  const isStrict = mode !== undefined && STRICT_MODES.has(mode) && parameters['uselibpqcompat'] !== 'true';
  return {
    ...(usesSystemRoots ? others : parameters),
    ...(mode === undefined ? {} : { sslmode: isStrict ? 'verify-full' : mode }),
  };
}
