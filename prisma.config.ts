// Where the Prisma command line finds the schema, the migrations and the database.
import { defineConfig } from 'prisma/config';

// `prisma generate` fetches a native schema engine that it does not use; any executable in its place spares that.
// Migrations are applied by scripts/migrate.mjs, with the same engine as WebAssembly.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(process.env['DATABASE_URL'] ? { datasource: { url: process.env['DATABASE_URL'] } } : {}),
});
