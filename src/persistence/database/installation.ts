// Identifies this installation beside others on the same host. All its replicas agree, before and after a failover.
import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

// Of the first migration: made when the database was. A copy of a database has another name.
const STATEMENT =
  'SELECT id || current_database() AS text FROM _prisma_migrations ORDER BY started_at, id LIMIT 1';
const TAG_LENGTH = 8;

@Injectable()
export class Installation {
  private known: Promise<string> | null = null;

  constructor(private readonly database: Database) {}

  /** A few hexadecimal digits. Throws `unavailable` when they were never read and the database is unreachable. */
  tag(): Promise<string> {
    this.known ??= this.read().catch((error: unknown) => {
      this.known = null;
      throw error;
    });
    return this.known;
  }

  private async read(): Promise<string> {
    const [row] = await this.database.query<{ text: string }>({ text: STATEMENT });
    return hash('sha256', row?.text ?? '', 'hex').slice(0, TAG_LENGTH);
  }
}
