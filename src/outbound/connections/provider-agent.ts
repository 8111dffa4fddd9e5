// The connections to providers: direct, or through the proxies of the operator's network.
import { Agent, buildConnector, EnvHttpProxyAgent, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { OutboundProxies } from '../../config/environment-reader.js';
import { boundReads } from '../exchange/bounded-reads.js';

// Milliseconds for a connection, and for a proxy's answer.
const CONNECT_TIMEOUT = 10_000;

const OPTIONS = {
  // Endpoint permits (ENDPOINT_CONCURRENCY) bound them and share them fairly. A queue here would be first come, first
  // served over all accounts, and would count against the time-out of a call.
  connections: null,
  pipelining: 1,
  keepAliveTimeout: 30_000,
  // The signal of each call bounds it.
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

export function createProviderAgent({ httpProxy, httpsProxy, noProxy }: OutboundProxies): Dispatcher {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT });
  if (httpProxy === undefined && httpsProxy === undefined)
    return new Agent({ ...OPTIONS, connect: bounded(connect) });
  return new EnvHttpProxyAgent({
    ...OPTIONS,
    connect,
    // Empty: undici itself must not read the environment.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: noProxy ?? '',
    proxyTls: { timeout: CONNECT_TIMEOUT },
    requestTls: { timeout: CONNECT_TIMEOUT },
    factory: (origin, options) => new Pool(origin, withBounds(options)),
    clientFactory: (origin, options) =>
      new Pool(origin, { ...options, connections: null, headersTimeout: CONNECT_TIMEOUT }),
  });
}

/** Bounds the reads of every connection that carries an exchange. */
function bounded(connect: buildConnector.connector): buildConnector.connector {
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[1]) boundReads(result[1]);
      callback(...result);
    });
}

/** undici opens tunnels itself, and hands them to a pool as its `connect`. */
function withBounds(options: object): Pool.Options {
  const { connect, ...others } = options as Pool.Options;
  return typeof connect === 'function' ? { ...others, connect: bounded(connect) } : { ...others };
}
