// Opens sockets only to addresses that the URL guard permits: the one place where a destination's name becomes a
// connection.
import { connect as connectTcp, isIP } from 'node:net';
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import type { buildConnector } from 'undici';
import { OutboundFailure } from '../exchange/exchange.js';
import type { UrlGuard } from './url-guard.js';

/**
 * Like undici's connector, but returns the connecting socket; null when none was opened. `account` names the look-up's
 * account.
 */
export type Connect = (
  target: buildConnector.Options,
  callback: buildConnector.Callback,
  account: string,
) => Socket | null;

// Milliseconds of silence before the system probes the other side.
const TCP_KEEP_ALIVE_DELAY = 60_000;

/** `trust`: certificate authorities beside those that the process knows. */
export function guardedConnector(guard: UrlGuard, trust: Pick<ConnectionOptions, 'ca'> = {}): Connect {
  return ({ protocol, hostname, port }, callback, account) => {
    const isTls = protocol === 'https:';
    try {
      // An address needs no look-up, so the guarded look-up below would not see it.
      if (isIP(hostname) !== 0) guard.requirePermission(protocol, hostname, hostname);
    } catch (error) {
      process.nextTick(callback, error, null);
      return null;
    }
    const target: TcpNetConnectOpts = {
      host: hostname,
      port: Number(port) || defaultPortOf(protocol),
      // Returns the checked addresses themselves: no second look-up happens before the socket opens.
      lookup: callbackify((host: string) =>
        guard.resolve(protocol, host, account),
      ) as unknown as LookupFunction,
      // Requests all addresses of the look-up, and tries them in turn.
      autoSelectFamily: true,
    };
    const socket = isTls ? connectTlsTo(hostname, { ...target, ...trust }) : connectTcp(target);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_DELAY);
    const fail = (error: Error): void => callback(error, null);
    socket.once('error', fail);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail);
      try {
        // Second line of defence against a socket to an unchecked address.
        if (socket.remoteAddress === undefined) throw new OutboundFailure('closed at once');
        guard.requirePermission(protocol, hostname, socket.remoteAddress);
      } catch (error) {
        socket.destroy();
        fail(error as Error);
        return;
      }
      callback(null, socket);
    });
    return socket;
  };
}

export function connectTlsTo(hostname: string, options: ConnectionOptions): TLSSocket {
  return connectTls({
    ...options,
    // Server names are never addresses, and have no trailing dot.
    servername: isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : '',
    ALPNProtocols: ['http/1.1'],
  });
}

export function defaultPortOf(protocol: string): number {
  return protocol === 'https:' ? 443 : 80;
}
