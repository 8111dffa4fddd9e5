// Forms of an address, each with a real connection.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readAppConfig } from '../../src/config/app-config.js';
import { Database } from '../../src/persistence/database/database.js';
import { TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import { administrate, createTestDatabase } from '../support/database/database.js';
import type { TestDatabase } from '../support/database/database.js';

const PASSWORD = '2024/#?@ %e:,"é+';
const encoded = encodeURIComponent(PASSWORD);

let database: TestDatabase;
let folder: string;
let host: string;
let port: string;
let name: string;
let role: string;
// A server may listen on a socket alone, or on none: this one leads to its port.
const socketServer = createServer((client) => {
  const upstream = connect(Number(port), host);
  client
    .on('error', () => upstream.destroy())
    .pipe(upstream)
    .on('error', () => client.destroy())
    .pipe(client);
});
beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  ({ hostname: host, port } = url);
  name = url.pathname.slice(1);
  role = `${name}_role`;
  await administrate(
    database.url,
    `CREATE ROLE "${role}" LOGIN PASSWORD '${PASSWORD}'; GRANT ALL ON ALL TABLES IN SCHEMA public TO "${role}"`,
  );
  folder = await mkdtemp(join(tmpdir(), 'sb-'));
  socketServer.listen(join(folder, `.s.PGSQL.${port}`));
  await once(socketServer, 'listening');
});
afterAll(async () => {
  socketServer.close();
  await rm(folder, { recursive: true, force: true });
  await administrate(database.url, `DROP OWNED BY "${role}"; DROP ROLE "${role}"`);
  await database.drop();
});

describe('an address', () => {
  it.each<readonly [string, () => string]>([
    ['with an encoded password', () => `postgresql://${role}:${encoded}@${host}:${port}/${name}`],
    [
      'with parameters alone',
      () => `postgres://?host=${host}&port=${port}&user=${role}&password=${encoded}&dbname=${name}`,
    ],
    ['with several servers', () => `postgresql://${role}:${encoded}@${host}:1,${host}:${port}/${name}`],
    [
      'with lists in parameters',
      () => `postgresql://${role}:${encoded}@/${name}?host=${host},${host}&port=1,${port}`,
    ],
    ['with a socket', () => `postgresql://${role}:${encoded}@/${name}?host=${folder}&port=${port}`],
    [
      'with an encoded socket',
      () => `postgresql://${role}:${encoded}@${encodeURIComponent(folder)}:${port}/${name}`,
    ],
    ['with a schema', () => `postgresql://${role}:${encoded}@${host}:${port}/${name}?schema=public`],
    [
      'with parameters of libpq, Prisma and hosters',
      () =>
        `postgresql://${role}:${encoded}@${host}:${port}/${name}?connect_timeout=5&connection_limit=3&pgbouncer=true` +
        '&channel_binding=prefer&sslmode=disable&options=-c%20work_mem%3D8MB',
    ],
  ])('%s connects', async (_form, addressOf) => {
    const opened = new Database(
      readAppConfig({ DATABASE_URL: addressOf(), ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY }, []),
    );
    try {
      const text =
        "SELECT current_user AS role, current_database() AS name, current_setting('search_path') AS path";
      expect(await opened.query({ text })).toEqual([{ role, name, path: 'public' }]);
      expect(await opened.prisma.account.count()).toBe(0);
    } finally {
      await opened.onApplicationShutdown();
    }
  });
});
