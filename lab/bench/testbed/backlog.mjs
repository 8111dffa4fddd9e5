// A log full of generations, and the time in which one destination gets all of them.
import { openService } from './gateways.mjs';
import { embeddingsJob } from './measuring.mjs';
import { cpuSeconds } from './usage.mjs';

const CALL = { inputs: 1, format: 'base64', dimensions: 384 };
const CONNECTIONS = 50;

/** Fills the log of a service without destinations. */
export async function openBacklog(testbed, least, environment) {
  const since = new Date(Date.now() - 1000).toISOString();
  const service = await testbed.progress.step('Starting: service', () =>
    openService(testbed, { environment, hasDestination: false }),
  );
  await testbed.setUpstreamDelay(0);
  let events = service.firstCalls;
  await testbed.progress.step('Filling the log', async () => {
    while (events < least) {
      const job = { ...embeddingsJob(service, CALL), connections: CONNECTIONS, seconds: 1 };
      events += (await testbed.runLoad(job)).calls;
    }
  });
  return { service, since, events };
}

/** A replay to a new destination delivers everything again; the receiver reports the end. `name` is used once. */
export async function drain(testbed, { service, since, events }, name, kind = 'otel-collector') {
  const path = `/drained/${name}/`;
  const address = testbed.sinkOrigin + path;
  const config = kind === 'webhook' ? { url: address } : { endpoint: address };
  const { id } = await service.createDestination(kind, config);
  const route = `/observability/destinations/${id}`;
  const usage = () => ({ service: cpuSeconds(service.pid), database: cpuSeconds(service.databasePid) });
  const before = usage();
  const begunAt = process.hrtime.bigint();
  await service.manage('POST', `${route}/replay`, { from: since });
  await testbed.untilDelivered(path, events);
  const seconds = Number(process.hrtime.bigint() - begunAt) / 1e9;
  const after = usage();
  await service.manage('DELETE', route);
  return {
    begunAt,
    events,
    perSecond: events / seconds,
    perCore: events / (after.service - before.service),
    perDatabaseCore: events / (after.database - before.database),
  };
}
