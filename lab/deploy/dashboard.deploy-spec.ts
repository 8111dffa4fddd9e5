// Every panel of the dashboard and every alert's expression, evaluated by a real Prometheus that has scraped a service
// under load (`npm run lab -- deploy`).
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseUsd } from '../../src/domain/spend/money.js';
import { createTestApp } from '../../test/support/app/app.js';
import type { TestApp } from '../../test/support/app/app.js';
import { SMALL } from '../../test/support/requests/create-embedding.js';
import { createDestination, DELIVERY_ENVIRONMENT } from '../../test/support/deliveries/deliveries.js';
import { eventually } from '../../test/support/eventually.js';
import { startServiceProcess } from '../../test/support/app/service-process.js';
import type { ServiceProcess } from '../../test/support/app/service-process.js';
import { answerLikeOpenAi, sendJson, startStubUpstream } from '../../test/support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../test/support/upstreams/stub-upstream.js';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url)), 'utf8');
const panels = (JSON.parse(read('grafana/signalbox.json')) as Dashboard).panels.flatMap(
  ({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr]),
);
const WINDOW = '5m';
// Each outcome comes several times, and at least this many scrapes (0.5 s) see it.
const LEAST_ROUNDS = 20;
const LEAST_SCRAPES = 8;

describe('the dashboard', () => {
  let app: TestApp;
  let upstream: StubUpstream;
  let receiver: StubUpstream;
  let services: ServiceProcess[];
  let prometheus: ChildProcess;
  let directory: string;
  let address: string;

  beforeAll(async () => {
    app = await createTestApp();
    upstream = await startStubUpstream();
    receiver = await startStubUpstream((_request, response) => sendJson(response, 200, {}));
    const environment = {
      DATABASE_URL: app.databaseUrl,
      OPENAI_API_KEY: 'upstream-key',
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      PROVIDER_RETRIES: '0',
      ...DELIVERY_ENVIRONMENT,
    };
    services = await Promise.all([
      startServiceProcess(environment),
      // A quota that the first call uses up.
      startServiceProcess({ ...environment, WORKSPACE_CONTENT_QUOTA_BYTES: '1', MAX_CALLS_IN_FLIGHT: '1' }),
    ]);
    directory = mkdtempSync(join(tmpdir(), 'prometheus-'));
    address = await startPrometheus();
    // It finds its targets some seconds after its start.
    await eventually(
      () => ask('up == 1'),
      (targets) => targets.length === services.length,
    );
    await load();
  });

  afterAll(async () => {
    prometheus.kill('SIGTERM');
    await once(prometheus, 'close');
    rmSync(directory, { recursive: true });
    for (const service of services) await service.stop();
    await app.close();
    await upstream.close();
    await receiver.close();
  });

  async function startPrometheus(): Promise<string> {
    const targets = services.map(({ baseUrl }) => new URL(baseUrl).host);
    const config = {
      global: { scrape_interval: '500ms', scrape_timeout: '400ms' },
      scrape_configs: [{ job_name: 'signalbox', static_configs: [{ targets }] }],
    };
    // JSON is YAML.
    writeFileSync(join(directory, 'prometheus.yaml'), JSON.stringify(config));
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(directory, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(directory, 'data')}`,
        '--web.listen-address=127.0.0.1:0',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let printed = '';
    prometheus.stderr?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    const listening = /Listening on" address=(127\.0\.0\.1:\d+)/;
    await eventually(
      () => Promise.resolve(printed),
      (text) => listening.test(text),
    );
    return `http://${listening.exec(printed)?.[1] ?? ''}`;
  }

  async function call(service: ServiceProcess, key: string, body: object = {}): Promise<number> {
    const response = await fetch(`${service.baseUrl}/embeddings`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-embedding-cache': 'on',
      },
      body: JSON.stringify({ model: SMALL, input: 'a text', ...body }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** Calls of every outcome that a panel shows. */
  async function load(): Promise<void> {
    const [service, scarce] = services;
    if (!service || !scarce) throw new Error('two services were started');
    const poor = await app.createKey({ limit: parseUsd('0') });
    await createDestination(app, { url: receiver.origin, method: 'POST', headers: {} });
    await createDestination(app, { url: `${receiver.origin}/refuses`, method: 'POST', headers: {} });
    const answers = [answerLikeOpenAi, answerLikeOpenAi, brokenAnswer, failure, refusal];
    const end = performance.now() + LEAST_SCRAPES * 500;
    for (let round = 0; round < LEAST_ROUNDS || performance.now() < end; round++) {
      upstream.answerWith(answers[round % answers.length] ?? null);
      receiver.answerWith((request, response) =>
        sendJson(response, request.path === '/refuses' ? (round % 2 === 0 ? 503 : 422) : 200, {}),
      );
      await Promise.all([
        call(service, app.apiKey, { input: [`text ${round}`, 'the same text'] }),
        call(service, poor.secret),
        ...Array.from({ length: 4 }, () => call(scarce, app.apiKey, { input: `text ${round} of the other` })),
      ]);
    }
  }

  async function ask(expression: string): Promise<unknown[]> {
    const query = expression.replaceAll('$__rate_interval', WINDOW).replaceAll('$job', '.+');
    const response = await fetch(`${address}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query }),
    });
    const answer = (await response.json()) as { status: string; error?: string; data: { result: unknown[] } };
    if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error ?? ''}`);
    return answer.data.result;
  }

  it.each([
    'signalbox_broadcast_dropped_total{reason="refused"}',
    'signalbox_broadcast_failed_attempts_total{class="retry"}',
    'signalbox_contents_skipped_total',
    'signalbox_http_refused_total{group="calls"}',
    'signalbox_upstream_refused_credentials_total{owner="operator"}',
    'signalbox_unpaid_upstream_usd_total{reason="broken_answer"}',
  ])('the load has counted %s', async (counter) => {
    expect(await ask(`sum(${counter}) > 0`)).toHaveLength(1);
  });

  it.each(panels)('%s has data for %s', async (_title, expression) => {
    expect(await ask(expression)).not.toEqual([]);
  });
});

function brokenAnswer(...[, response]: Parameters<typeof answerLikeOpenAi>): void {
  sendJson(response, 200, { data: [], usage: { prompt_tokens: 4, total_tokens: 4 } });
}

function failure(...[, response]: Parameters<typeof answerLikeOpenAi>): void {
  sendJson(response, 500, {});
}

function refusal(...[, response]: Parameters<typeof answerLikeOpenAi>): void {
  sendJson(response, 401, { error: { message: 'no' } });
}
