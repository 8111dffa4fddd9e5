// Serves a built service on a free port. Sends its address, and the first keys of an empty database, to its parent
// process.
import cluster from 'node:cluster';
import { pathToFileURL } from 'node:url';

process.on('disconnect', () => process.exit());
const built = pathToFileURL(`${process.env.FAULT_SERVICE_ROOT}/dist/`).href;
const { start } = await import(`${built}main.js`);
const { ensureQuickstartKeys } = await import(`${built}runtime/quickstart.js`);
const keys =
  cluster.isPrimary && process.env.FAULT_WANTS_KEYS === 'yes'
    ? await ensureQuickstartKeys({ databaseUrl: process.env.DATABASE_URL })
    : null;
const { baseUrl } = await start();
// The processes that it starts run this file as well.
if (cluster.isPrimary) process.send({ baseUrl, keys });
