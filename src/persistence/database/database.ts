// The one pool of PostgreSQL connections, shared by Prisma and the hot statements.
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { AppConfig } from '../../config/app-config.js';
import type { DatabaseConfig } from '../../config/app-config.js';
import { AppError } from '../../domain/errors.js';
import { FairBulkhead } from '../../concurrency/fair-bulkhead.js';
import { isCanceled, isMisdirected, translateDatabaseError } from './database-errors.js';
import { clientClassOf, DatabaseClient } from '../connections/database-client.js';
import { ServerLocator } from '../connections/server-locator.js';
import { Prisma, PrismaClient } from '../generated/client.js';
import { rebaseLog } from './log-offset.js';

// Milliseconds. An unresponsive database must lead to a 503, not to a client that waits forever.
const CONNECT_TIMEOUT = 5_000;
const QUERY_TIMEOUT = 15_000;
// Shorter: the server ends a statement that the service gives up. Otherwise it would run on behind a closed connection. A
// time-out that the operator has set for the role or the database stays.
const STATEMENT_TIMEOUT = 14_000;
const COMMAND_TIMEOUT = 6 * 3_600_000;
// The pool returns no connection before the promise settles; only the type of this option does not declare promises.
const ON_CONNECT = { onConnect: rebaseLog };
// Deadlock detected, serialization failure: the whole statement was rolled back and can be repeated.
const REPEATABLE_STATES = new Set(['40P01', '40001']);
// The Prisma code for both.
const REPEATABLE_PRISMA_CODE = 'P2034';
const MAX_TRIES = 5;
// Concurrent transactions of changes, and changes of one account in the queue; beyond it a change is rejected with
// 503.
const MAX_TRANSACTIONS = 4;
const MAX_WAITING_CHANGES = 100;

// The lock precedes the snapshot: from then on no rows of the log move between partitions (move_default_rows).
const READ_ONE_SNAPSHOT =
  'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE generations IN ACCESS SHARE MODE';

/** Runs one statement of a transaction. */
export type Run = <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => Promise<Row[]>;

/** The statements of a command, in sequence on one connection. */
export interface CommandSession {
  run<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  transaction(texts: readonly string[]): Promise<void>;
}

@Injectable()
export class Database implements OnApplicationShutdown {
  private readonly servers: ServerLocator;
  /** Those of connections that need a session of their own: a pooler may stand before the others. */
  private readonly directServers: ServerLocator;
  private readonly pool: pg.Pool;
  /** The client of all repositories. Its errors are already translated. */
  readonly prisma: TranslatingPrismaClient;
  private readonly changes: FairBulkhead;
  private seeChanges = (): Promise<void> => Promise.resolve();

  constructor(@Inject(AppConfig) config: DatabaseConfig) {
    this.servers = new ServerLocator(config.databaseUrl);
    this.directServers =
      config.databaseDirectUrl === undefined ? this.servers : new ServerLocator(config.databaseDirectUrl);
    this.pool = new pg.Pool({
      Client: clientClassOf(this.servers, STATEMENT_TIMEOUT),
      max: config.databasePoolSize,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: QUERY_TIMEOUT,
      keepAlive: true,
      application_name: 'signalbox',
      ...ON_CONNECT,
    });
    // The pool replaces a lost idle connection; without a listener it would end the process.
    this.pool.on('error', () => undefined);
    this.prisma = createPrismaClient(this.pool, this.servers);
    this.changes = new FairBulkhead(
      { permits: transactionsOf(config.databasePoolSize), reserved: 1, maxWaiting: MAX_WAITING_CHANGES },
      () =>
        new AppError('unavailable', {
          detail: `${MAX_WAITING_CHANGES} changes of the account are already waiting`,
          headers: { 'Retry-After': '1' },
        }),
    );
  }

  /** Sets the work that runs after every committed change. */
  afterChanges(seeChanges: () => Promise<void>): void {
    this.seeChanges = seeChanges;
  }

  /** The state of the pool. */
  connections(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.pool;
    return { total, idle, waiting };
  }

  /**
   * Runs one plain statement; `name` makes it a prepared one. For the hot statements, which Prisma cannot express.
   */
  async query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.pool.query<Row>(this.prepared(statement))).rows;
      } catch (error) {
        const isRepeatable = error instanceof pg.DatabaseError && REPEATABLE_STATES.has(error.code ?? '');
        const isRetried = isRepeatable ? attempt < MAX_TRIES : attempt === 1 && isMisdirected(error);
        if (!isRetried) throw translateDatabaseError(error);
      }
    }
  }

  /** A pooler may run a statement in a session that has not prepared it. Before the first connection, none is known. */
  private prepared(statement: pg.QueryConfig): pg.QueryConfig {
    return this.servers.hasPooler === false ? statement : { ...statement, name: undefined };
  }

  /** Runs plain read-only statements in one snapshot, each with a statement time-out in milliseconds. */
  async readWithin<Result>(milliseconds: number, work: (run: Run) => Promise<Result>): Promise<Result> {
    // Compilation takes longer than it saves in statements of at most some seconds.
    // The memory holds the groups of ten thousand keys.
    const settings = { statement_timeout: String(milliseconds), jit: 'off', work_mem: '32MB' };
    return this.runWithin(READ_ONE_SNAPSHOT, settings, work);
  }

  /** Runs plain statements in one transaction; each sees all earlier commits. */
  async writeWithin<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.runWithin('BEGIN', {}, work);
  }

  /** Runs one plain statement with its own settings, for statements that need planner hints. */
  async queryWith<Row extends pg.QueryResultRow>(
    settings: Readonly<Record<string, string>>,
    statement: pg.QueryConfig,
  ): Promise<Row[]> {
    return this.runWithin('BEGIN', settings, (run) => run<Row>(statement));
  }

  private async runWithin<Result>(
    begin: string,
    settings: Readonly<Record<string, string>>,
    work: (run: Run) => Promise<Result>,
  ): Promise<Result> {
    // Before, a statement that is ended has waited for a lock.
    let isWorking = false;
    try {
      const client = await this.pool.connect();
      try {
        await client.query(begin);
        for (const setting of Object.entries(settings))
          await client.query('SELECT set_config($1, $2, true)', setting);
        isWorking = true;
        const result = await work(async <Row extends pg.QueryResultRow>(statement: pg.QueryConfig) => {
          const { rows } = await client.query<Row>(this.prepared(statement));
          return rows;
        });
        await client.query('COMMIT');
        client.release();
        return result;
      } catch (error) {
        // Closing the connection ends the transaction, whatever its state.
        client.release(true);
        throw error;
      }
    } catch (error) {
      if (isWorking && 'statement_timeout' in settings && isCanceled(error))
        throw new AppError('operation_timeout', { cause: error });
      throw translateDatabaseError(error);
    }
  }

  /**
   * Runs repositories' statements in one transaction. `work` may run again, so it does nothing but these statements,
   * all through the given client. Resolves when the caches of this process know of the change, so that its caller
   * never reads older state.
   *
   * A few transactions run at once, shared fairly between accounts. A transaction holds a connection for several
   * round trips, and a storm of changes would take connections and processor time from calls. `accountId` is absent
   * for commands.
   */
  async transact<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    accountId = '',
  ): Promise<Result> {
    const result = await this.changes.run(accountId, () => this.transactNow(work));
    await this.seeChanges();
    return result;
  }

  private async transactNow<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.prisma.$transaction(work);
      } catch (error) {
        const isRepeatable =
          error instanceof Prisma.PrismaClientKnownRequestError && error.code === REPEATABLE_PRISMA_CODE;
        const isRetried = isRepeatable ? attempt < MAX_TRIES : attempt === 1 && isMisdirected(error);
        if (!isRetried) throw translateDatabaseError(error);
      }
    }
  }

  /** A connection that is not open yet, with a session of its own. */
  createSession(options: pg.ClientConfig): DatabaseClient {
    return new DatabaseClient(this.directServers, { keepAlive: true, ...options });
  }

  /** A session for a command's statements, without the time-out of the request path. */
  async withSession<Result>(work: (session: CommandSession) => Promise<Result>): Promise<Result> {
    const client = this.createSession({
      application_name: 'signalbox',
      connectionTimeoutMillis: CONNECT_TIMEOUT,
    });
    try {
      await client.connect();
      await rebaseLog(client);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw translateDatabaseError(error);
    }
    const run: CommandSession['run'] = async <Row extends pg.QueryResultRow>(
      text: string,
      values: readonly unknown[] = [],
    ) => {
      const statement = { text, values: [...values], query_timeout: COMMAND_TIMEOUT };
      try {
        return (await client.query<Row>(statement)).rows;
      } catch (error) {
        throw translateDatabaseError(error);
      }
    };
    const transaction = async (texts: readonly string[]): Promise<void> => {
      for (const text of ['BEGIN', ...texts, 'COMMIT']) await run(text);
    };
    try {
      return await work({ run, transaction });
    } finally {
      // Rolls back what is open.
      await client.end().catch(() => undefined);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    await this.pool.end();
  }
}

/** Changes get two connections in five, four at most: calls and reports need the others. */
function transactionsOf(poolSize: number): number {
  return Math.min(MAX_TRANSACTIONS, Math.max(2, Math.floor(poolSize * 0.4)));
}

/** Prisma writes the schema into its statements. The first connection finds out which one has the tables. */
function createAdapter(pool: pg.Pool, servers: ServerLocator): SqlDriverAdapterFactory {
  const { provider, adapterName } = new PrismaPg(pool);
  return {
    provider,
    adapterName,
    connect: async () => {
      if (servers.schema === null) (await pool.connect()).release();
      return new PrismaPg(pool, servers.schema === null ? {} : { schema: servers.schema }).connect();
    },
  };
}

function createPrismaClient(pool: pg.Pool, servers: ServerLocator) {
  // Prisma's own limits are shorter, and also apply where it begins a transaction itself.
  const transactionOptions = { maxWait: CONNECT_TIMEOUT, timeout: QUERY_TIMEOUT };
  return new PrismaClient({ adapter: createAdapter(pool, servers), transactionOptions }).$extends({
    query: {
      async $allOperations({ args, query }) {
        try {
          return await query(args);
        } catch (error) {
          throw translateDatabaseError(error);
        }
      },
    },
  });
}

type TranslatingPrismaClient = ReturnType<typeof createPrismaClient>;

/** The client of one transaction. */
export type Transaction = Omit<
  TranslatingPrismaClient,
  '$connect' | '$disconnect' | '$on' | '$transaction' | '$extends' | '$use'
>;
