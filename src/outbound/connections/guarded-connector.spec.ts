// TLS certificates are verified against the name although the socket connects to an address. A socket to any other
// address is closed.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createCertificate } from '../../../test/support/upstreams/certificate.js';
import { TestClock } from '../../../test/support/app/clock.js';
import { ScriptedResolver } from '../../../test/support/app/name-resolver.js';
import type { AppConfig } from '../../config/app-config.js';
import { OutboundRejected } from '../exchange/exchange.js';
import { guardedConnector } from './guarded-connector.js';
import type { Connect } from './guarded-connector.js';
import { UrlGuard } from './url-guard.js';

const CERTIFICATE = createCertificate('host.example');
const CLOCK = new TestClock();
const NOTHING_OPENED = { destinationAllowedCidrs: [] } as unknown as AppConfig;
const LOOPBACK_OPENED = { destinationAllowedCidrs: ['127.0.0.0/8'] } as unknown as AppConfig;

let server: Server;
let port: string;
beforeAll(async () => {
  server = createServer(CERTIFICATE);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = String((server.address() as AddressInfo).port);
});
afterAll(() => {
  server.close();
});

function connect(connector: Connect, hostname: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle: Parameters<Connect>[1] = (error, socket) => {
      if (error) reject(error);
      else resolve(socket);
    };
    connector({ protocol: 'https:', hostname, port }, settle, 'account');
  });
}

describe('TLS', () => {
  const guard = new UrlGuard(
    LOOPBACK_OPENED,
    new ScriptedResolver()
      .script('host.example', ['127.0.0.1'])
      .script('host.example.', ['127.0.0.1'])
      .script('other.example', ['127.0.0.1']),
    CLOCK,
  );
  const trusting = guardedConnector(guard, { ca: CERTIFICATE.cert });

  it.each(['host.example', 'host.example.'])(
    'requests %s by its name, and verifies the certificate',
    async (hostname) => {
      const accepted = once(server, 'secureConnection') as Promise<[TLSSocket & { servername: string }]>;
      const socket = await connect(trusting, hostname);
      const [{ servername }] = await accepted;
      expect([socket.remoteAddress, servername]).toEqual(['127.0.0.1', 'host.example']);
      socket.destroy();
    },
  );

  it('rejects a certificate for another name', async () => {
    await expect(connect(trusting, 'other.example')).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(connect(trusting, '127.0.0.1')).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
  });

  it('rejects a certificate of an unknown authority', async () => {
    await expect(connect(guardedConnector(guard), 'host.example')).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });
});

describe('the second check', () => {
  /** Permits every look-up, as a defect might. */
  class CarelessGuard extends UrlGuard {
    override resolve(): Promise<readonly LookupAddress[]> {
      return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    }
  }

  it('closes a socket to a forbidden address without returning it', async () => {
    const careless = new CarelessGuard(NOTHING_OPENED, new ScriptedResolver(), CLOCK);
    const opened = new Promise<Socket>((resolve) => server.once('connection', resolve));
    await expect(
      connect(guardedConnector(careless, { ca: CERTIFICATE.cert }), 'host.example'),
    ).rejects.toThrow(new OutboundRejected('host.example leads to a loopback address'));
    const socket = await opened;
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.bytesRead).toBeGreaterThan(0);
  });
});
