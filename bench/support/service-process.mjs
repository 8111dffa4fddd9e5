// Serves the built service on a free port and tells its address to the process that has started it. With WORKERS above 1
// every worker runs this file as well.
import cluster from 'node:cluster';
import { start } from '../../dist/main.js';

process.on('disconnect', () => process.exit());
const { baseUrl } = await start();
if (cluster.isPrimary) process.send({ baseUrl });
