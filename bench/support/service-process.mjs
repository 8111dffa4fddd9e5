// Serves the built service on a free port and reports its address to the process that started it. Its own processes,
// for deliveries and with WORKERS above 1, run this file as well.
import cluster from 'node:cluster';
import { start } from '../../dist/main.js';

process.on('disconnect', () => process.exit());
const { baseUrl } = await start();
if (cluster.isPrimary) process.send({ baseUrl });
