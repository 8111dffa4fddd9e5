// Serves the built service on a free port, with a key of its own, and tells both to the process that has started this one.
import { start } from '../dist/main.js';
import { ensureQuickstartKeys } from '../dist/runtime/quickstart.js';

process.on('disconnect', () => process.exit());
const { apiKey } = await ensureQuickstartKeys({ databaseUrl: process.env.DATABASE_URL });
const { baseUrl } = await start();
process.send({ baseUrl, apiKey });
