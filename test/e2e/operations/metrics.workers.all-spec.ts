// GET /metrics of a service with two workers and a delivery process.
import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createTestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { startServiceProcess } from '../../support/app/service-process.js';

/** The value of one line of the text format; 0 without one. */
function read(text: string, line: string): number {
  const found = text.split('\n').find((candidate) => candidate.startsWith(`${line} `));
  return found === undefined ? 0 : Number(found.slice(line.length + 1));
}

const CALLS = 40;

/** On its own connection, which any of the workers may accept. */
async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const sent = request(url, { headers, agent: new Agent({ keepAlive: false }) });
  sent.end();
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

it('the metrics of all workers are the same from every worker', async () => {
  const app = await createTestApp();
  const service = await startServiceProcess({
    DATABASE_URL: app.databaseUrl,
    DELIVERY_PROCESS: 'own',
    WORKERS: '2',
    LOG_LEVEL: 'info',
  });
  try {
    const headers = { authorization: `Bearer ${app.apiKey}` };
    await Promise.all(Array.from({ length: CALLS }, () => ask(`${service.baseUrl}/key`, headers)));
    const line = 'signalbox_http_requests_total{method="GET",route="/api/v1/key",status="200"}';
    const metrics = service.baseUrl.replace('/api/v1', '/metrics');
    await eventually(
      () => ask(metrics),
      (text) => read(text, line) === CALLS,
    );
    // Both workers have received calls, and this request too.
    const workers = new Set(service.lines.map((text) => (JSON.parse(text) as { pid: number }).pid));
    expect(workers.size).toBeGreaterThanOrEqual(2);
    for (let time = 0; time < 6; time++) {
      const text = await ask(metrics);
      expect(read(text, line)).toBe(CALLS);
      expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
      expect(read(text, 'process_resident_memory_bytes')).toBeGreaterThan(0);
    }
    expect(await service.stop()).toBe(0);
  } finally {
    await service.kill();
    await app.close();
  }
});
