// The built service in a network whose way out is a proxy: calls over TLS with a certificate authority of the operator's
// own, and deliveries, which another process sends.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestApp } from '../../support/app/app.js';
import { createCertificate } from '../../support/upstreams/certificate.js';
import { startConnectProxy } from '../../support/upstreams/connect-proxy.js';
import type { ConnectProxy } from '../../support/upstreams/connect-proxy.js';
import { SMALL } from '../../support/requests/create-embedding.js';
import {
  createDeliveryApp,
  createDestination,
  DELIVERY_ENVIRONMENT,
} from '../../support/deliveries/deliveries.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const USER_INFO = 'operator:canary-proxy-password';
const CERTIFICATE = createCertificate('provider.example');

let directory: string;
let app: TestApp;
let upstream: Server;
let port: number;
let proxy: ConnectProxy;
let receiver: RunningReceiver;
let service: ServiceProcess;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-proxies-'));
  writeFileSync(join(directory, 'authority.pem'), CERTIFICATE.cert);
  upstream = createServer(CERTIFICATE, (_request, response) => {
    const embedding = Array.from({ length: 1_536 }, () => 1);
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data: [{ index: 0, embedding }], usage }));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  ({ port } = upstream.address() as AddressInfo);
  proxy = await startConnectProxy({ userInfo: USER_INFO });
  app = await createDeliveryApp({ environment: { SIGNALBOX_ROLE: 'calls' } });
  receiver = await startReceiver(traceCollector);
  await createDestination(app, { url: receiver.origin });
  const proxyUrl = `http://${USER_INFO}@127.0.0.1:${proxy.port}`;
  service = await startServiceProcess({
    ...DELIVERY_ENVIRONMENT,
    DATABASE_URL: app.databaseUrl,
    LOG_LEVEL: 'debug',
    HTTPS_PROXY: proxyUrl,
    DESTINATIONS_PROXY_URL: proxyUrl,
    NODE_EXTRA_CA_CERTS: join(directory, 'authority.pem'),
    OPENAI_API_KEY: 'upstream-key',
    OPENAI_BASE_URL: `https://provider.example:${port}/v1`,
    OPENAI_COMPATIBLE_KEY: 'canary-misspelt-value',
  });
});
afterAll(async () => {
  await service.stop();
  await receiver.close();
  await app.close();
  await proxy.close();
  upstream.closeAllConnections();
  upstream.close();
  rmSync(directory, { recursive: true });
});

it('calls and deliveries pass through the proxies, and their credentials are not logged', async () => {
  const answer = await fetch(`${service.baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: SMALL, input: 'hello' }),
  });
  expect(answer.status).toBe(200);
  // A delivery may follow at once.
  expect(proxy.targets[0]).toBe(`provider.example:${port}`);
  await eventually(
    () => Promise.resolve(receiver.stored.length),
    (count) => count === 1,
  );
  expect(proxy.targets).toContain(`127.0.0.1:${new URL(receiver.origin).port}`);
  expect(service.lines.join('\n')).not.toContain('canary');
});

it('the log at the start names the providers that can serve, and misspelt variables', () => {
  const lines = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const about = lines.filter(({ context }) => context === 'Providers');
  expect(about).toMatchObject([
    {
      serving: ['local', 'openai'],
      missing: expect.arrayContaining([
        'COHERE_API_KEY',
        'AZURE_API_KEY with AZURE_BASE_URL',
        'TEI_BASE_URL',
      ]),
    },
    { msg: 'OPENAI_COMPATIBLE_KEY is not read; set OPENAI_COMPATIBLE_API_KEY instead' },
  ]);
});
