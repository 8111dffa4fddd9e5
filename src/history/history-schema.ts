// Creates and migrates the tables of the history. Only the process that has the lease of the copy calls it, so no two
// processes migrate at once; every statement may run again after a failure.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ClickhouseClient, HistoryFailure } from './clickhouse-client.js';
import {
  addVersion,
  COUNT_DATABASES,
  createDatabase,
  createVersions,
  MIGRATIONS,
  readVersion,
} from './history-tables.js';

interface Version {
  readonly version: number;
  readonly identity: string;
  readonly rows: string;
}

@Injectable()
export class HistorySchema {
  constructor(private readonly server: ClickhouseClient) {}

  /** Resolves with the identity of the tables: others are other tables, which have to be filled again. */
  async ensure(): Promise<string> {
    const { database } = this.server;
    if (database === null) throw new HistoryFailure('failed', 'no history is configured');
    const found = await this.server.query({ text: COUNT_DATABASES, parameters: { database } });
    if (found.trim() === '0') await this.server.query({ text: createDatabase(database) });
    await this.server.query({ text: createVersions(database) });
    const known = JSON.parse(await this.server.query({ text: readVersion(database) })) as Version;
    const isNew = Number(known.rows) === 0;
    const identity = isNew ? randomUUID() : known.identity;
    for (let version = known.version; version < MIGRATIONS.length; version++) {
      for (const write of MIGRATIONS[version] ?? []) await this.server.query({ text: write(database) });
      await this.server.query({
        text: addVersion(database),
        parameters: { version: String(version + 1), identity },
      });
    }
    return identity;
  }
}
