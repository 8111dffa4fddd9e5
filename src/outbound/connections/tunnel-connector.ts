// Connections to destinations through the operator's proxy. The URL guard still decides: the name is resolved and
// checked here, and the proxy receives the checked address, so that no other look-up decides where the tunnel ends.
import { request as requestHttp } from 'node:http';
import type { RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { callbackify } from 'node:util';
import { OutboundFailure } from '../exchange/exchange.js';
import { connectTlsTo, defaultPortOf } from './guarded-connector.js';
import type { Connect } from './guarded-connector.js';
import type { UrlGuard } from './url-guard.js';

// Milliseconds for the proxy's answer.
const TUNNEL_TIMEOUT = 10_000;

/** Like the guarded connector, and returns no connecting socket. */
export function tunnelConnector(
  guard: UrlGuard,
  proxyUrl: string,
  trust: Pick<ConnectionOptions, 'ca'> = {},
): Connect {
  const openTunnel = tunnelsThrough(new URL(proxyUrl));
  const connect = async (
    { protocol, hostname, port }: Parameters<Connect>[0],
    account: string,
  ): Promise<Socket> => {
    const isName = isIP(hostname) === 0;
    if (!isName) guard.requirePermission(protocol, hostname, hostname);
    const addresses = isName
      ? (await guard.resolve(protocol, hostname, account)).map(({ address }) => address)
      : [hostname];
    const tunnel = await firstOf(addresses, (address) =>
      openTunnel(address, Number(port) || defaultPortOf(protocol)),
    );
    return protocol === 'https:' ? secured(connectTlsTo(hostname, { ...trust, socket: tunnel })) : tunnel;
  };
  const connectWithCallback = callbackify(connect);
  return (target, callback, account) => {
    const report = (error: Error | null, socket: Socket): void =>
      error ? callback(error, null) : callback(null, socket);
    connectWithCallback(target, account, report);
    return null;
  };
}

/** Tries the addresses in turn, as a direct connection does; throws the last failure. */
async function firstOf<Result>(
  addresses: readonly string[],
  attempt: (address: string) => Promise<Result>,
): Promise<Result> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await attempt(address);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function tunnelsThrough(proxy: URL): (address: string, port: number) => Promise<Socket> {
  const isSecure = proxy.protocol === 'https:';
  const request = isSecure ? requestHttps : requestHttp;
  const userInfo = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const credentials =
    userInfo === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(userInfo).toString('base64')}` };
  return (address, port) => {
    const path = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
    const options: RequestOptions = {
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || defaultPortOf(proxy.protocol),
      path,
      headers: { host: path, ...credentials },
      agent: false,
      timeout: TUNNEL_TIMEOUT,
    };
    return new Promise((resolve, reject) => {
      const connecting = request(options);
      connecting.once('timeout', () =>
        connecting.destroy(new OutboundFailure('the proxy did not answer in time')),
      );
      connecting.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error instanceof OutboundFailure
            ? error
            : new OutboundFailure(`no connection to the proxy: ${error.code ?? error.message}`, {
                cause: error,
              }),
        ),
      );
      connecting.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
        if (statusCode < 200 || statusCode >= 300) {
          socket.destroy();
          reject(new OutboundFailure(`the proxy answered ${statusCode}`));
          return;
        }
        socket.setTimeout(0);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      connecting.end();
    });
  };
}

function secured(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new OutboundFailure('no TLS connection in time')),
      TUNNEL_TIMEOUT,
    );
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(timer));
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
