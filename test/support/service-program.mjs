// What the service's process runs in tests: the built service, which then says where it listens.
import cluster from 'node:cluster';

const { start } = await import(new URL('../../dist/main.js', import.meta.url).href);
const { baseUrl } = await start();
// Not in a worker: the primary says it, once all of them listen.
if (cluster.isPrimary) process.stdout.write(`${baseUrl}\n`);
