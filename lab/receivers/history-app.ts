// The service with a history in a real engine; beside it, for comparisons, the same service on the same database without one.
import { Injectable } from '@nestjs/common';
import { HistoryCopier } from '../../src/history/history-copier.js';
import type { CopyBounds } from '../../src/history/history-copier.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import { createTestApp } from '../../test/support/app/app.js';
import type { TestApp } from '../../test/support/app/app.js';
import { eventually } from '../../test/support/eventually.js';
import { startReceiver } from '../../test/support/receivers/receiver.js';
import type { RunningReceiver } from '../../test/support/receivers/receiver.js';
import { untilSummedUp } from '../../test/support/database/rollups.js';
import { startClickhouse, USER } from './clickhouse-front.js';
import type { ClickhouseFront } from './clickhouse-front.js';

export const DATABASE = 'history_of_tests';
export const TABLE = `${DATABASE}.generations`;
export const CONTENTS = `${DATABASE}.generation_contents`;

export interface HistoryService {
  readonly app: TestApp;
  readonly front: ClickhouseFront;
  readonly server: RunningReceiver;
  append(generations: readonly Generation[]): Promise<void>;
  /** Passes until every row of the log is copied: other transactions of the server hold a pass back. */
  copyAll(bounds?: Partial<CopyBounds>): Promise<void>;
  /** One pass, or what is left of it. */
  copy(bounds?: Partial<CopyBounds>): Promise<void>;
  /** As if the retention had dropped all partitions before. */
  dropBefore(moment: Date, isKept?: 'rows are kept'): Promise<void>;
  close(): Promise<void>;
}

export interface HistoryApp extends HistoryService {
  /** Answers from PostgreSQL alone. */
  readonly plain: TestApp;
}

/** Copies when a test says so, and at no other moment. */
@Injectable()
class IdleCopier extends HistoryCopier {
  override onApplicationBootstrap(): void {
    // No pass begins.
  }
}

// The rows of these tests are of any day.
const ENVIRONMENT = { GENERATION_RETENTION_DAYS: '0' };

export async function createHistoryApp(): Promise<HistoryApp> {
  const history = await createHistoryService();
  const { databaseUrl, clock } = history.app;
  const plain = await createTestApp({ environment: ENVIRONMENT, databaseUrl, clock });
  return {
    ...history,
    plain,
    close: async () => {
      await plain.close();
      await history.close();
    },
  };
}

export async function createHistoryService(
  environment: Readonly<Record<string, string>> = {},
): Promise<HistoryService> {
  const front = startClickhouse();
  const server = await startReceiver(front);
  const url = new URL(`${server.origin}/${DATABASE}`);
  url.username = USER.username;
  url.password = USER.password;
  const app = await createTestApp({
    environment: { ...ENVIRONMENT, HISTORY_CLICKHOUSE_URL: url.href, ...environment },
    override: (testing) => testing.overrideProvider(HistoryCopier).useClass(IdleCopier),
  });

  const copy = async (bounds?: Partial<CopyBounds>): Promise<void> => {
    // The copy skips rows that are a week older than those of its last passes.
    await app.sql('UPDATE history_copy SET copied_until = NULL, marked_at = NULL');
    await app.application.get(HistoryCopier).copyPending(bounds);
  };
  return {
    app,
    front,
    server,
    append: async (generations) => {
      const log = app.application.get(GenerationLog);
      await Promise.all(generations.map((one) => log.append(one)));
    },
    copy,
    copyAll: async (bounds) => {
      await eventually(
        async () => {
          await copy(bounds);
          return app.sql(
            'SELECT FROM generations LEFT JOIN history_copy ON true WHERE summed_before IS NULL OR log_transaction >= summed_before LIMIT 1',
          );
        },
        (rows) => rows.length === 0,
      );
    },
    dropBefore: async (moment, isKept) => {
      await app.sql('UPDATE log_begin SET dropped_before = $1', [moment]);
      if (isKept) return;
      // The retention waits for the rollups.
      await untilSummedUp(app);
      await app.sql(
        'DELETE FROM generations USING history_copy WHERE created_at < $1 AND log_transaction < summed_before',
        [moment],
      );
    },
    close: async () => {
      await app.close();
      await server.close();
      front.close();
    },
  };
}
