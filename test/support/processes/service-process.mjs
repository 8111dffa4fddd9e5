// Serves a built service on a free port: this checkout's, or that of SERVICE_ROOT. Sends its address, and with
// SERVICE_WANTS_KEYS the first keys of an empty database, to its parent process.
import cluster from 'node:cluster';
import { pathToFileURL } from 'node:url';

process.on('disconnect', () => process.exit());
const { SERVICE_ROOT: root, SERVICE_WANTS_KEYS: wantsKeys, DATABASE_URL: databaseUrl } = process.env;
const built =
  root === undefined ? new URL('../../../dist/', import.meta.url) : pathToFileURL(`${root}/dist/`);
const load = (path) => import(new URL(path, built).href);

const { start } = await load('main.js');
let keys = null;
if (cluster.isPrimary && wantsKeys === 'yes') {
  const { ensureQuickstartKeys } = await load('runtime/quickstart.js');
  keys = await ensureQuickstartKeys({ databaseUrl });
}
const { baseUrl } = await start();
// The processes that it starts, for deliveries and with WORKERS above 1, run this file as well.
if (cluster.isPrimary) process.send({ baseUrl, keys });
