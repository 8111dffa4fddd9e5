// The service process of tests: the built service, which then sends its address.
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';

// Beside the standard output, which is the log's, and may be one that takes nothing.
const ADDRESS_OUTPUT = 3;

const { start } = await import(new URL('../../../dist/main.js', import.meta.url).href);
const { baseUrl } = await start();
// Not in a worker: the primary says it, once all of them listen.
if (cluster.isPrimary) writeSync(ADDRESS_OUTPUT, baseUrl);
