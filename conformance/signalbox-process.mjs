// Serves the built service on a free port with a new key, and reports both to the process that started it.
import { start } from '../dist/main.js';
import { ensureQuickstartKeys } from '../dist/runtime/quickstart.js';

process.on('disconnect', () => process.exit());
const { apiKey } = await ensureQuickstartKeys({ databaseUrl: process.env.DATABASE_URL });
const { baseUrl } = await start();
process.send({ baseUrl, apiKey });
