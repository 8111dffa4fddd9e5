// Readiness of this process: database reachable, all migrations of this build applied, not draining.
import { readdir } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

const MIGRATIONS = new URL('../../../prisma/migrations/', import.meta.url);

/** The migrations of this build. */
export interface Migrations {
  readonly applied: number;
  readonly latest: string | null;
  readonly pending: readonly string[];
}

@Injectable()
export class Readiness {
  private expected: Promise<string[]> | null = null;
  private isDraining = false;

  constructor(private readonly database: Database) {}

  /** From now on load balancers see the process as not ready. */
  startDraining(): void {
    this.isDraining = true;
  }

  /** Null when the process is ready; throws `unavailable` when the database is unreachable. */
  async reasonNotToServe(): Promise<string | null> {
    if (this.isDraining) return 'shutting down';
    const pending = await this.pendingMigrations();
    return pending.length === 0 ? null : `migrations are missing: ${pending.join(', ')}`;
  }

  async describeMigrations(): Promise<Migrations> {
    const pending = await this.pendingMigrations();
    const expected = (await this.expected) ?? [];
    const applied = expected.filter((name) => !pending.includes(name));
    return { applied: applied.length, latest: applied.toSorted().at(-1) ?? null, pending };
  }

  private async pendingMigrations(): Promise<string[]> {
    this.expected ??= listMigrations();
    const rows = await this.database.query<{ migration_name: string }>({
      text: 'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    });
    const applied = new Set(rows.map((row) => row.migration_name));
    return (await this.expected).filter((name) => !applied.has(name));
  }
}

async function listMigrations(): Promise<string[]> {
  const entries = await readdir(MIGRATIONS, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}
