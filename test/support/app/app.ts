// The whole service on a listening socket and a database of its own, with one account to begin with.
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { TestingModuleBuilder } from '@nestjs/testing';
import pg from 'pg';
import supertest from 'supertest';
import { AppModule } from '../../../src/app.module.js';
import { API_PREFIX } from '../../../src/runtime/base-url.js';
import { setUpApplication } from '../../../src/app.setup.js';
import { readAppConfig } from '../../../src/config/app-config.js';
import { createKeySecret } from '../../../src/domain/keys/api-key.js';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import { Clock } from '../../../src/domain/clock.js';
import { PROVIDERS } from '../../../src/providers/index.js';
import { ExpressServerAdapter } from '../../../src/http/server/express-server.adapter.js';
import { NameResolver } from '../../../src/outbound/connections/name-resolver.js';
import { AccountsRepository } from '../../../src/persistence/workspaces/accounts.repository.js';
import { ApiKeysRepository } from '../../../src/persistence/keys/api-keys.repository.js';
import type { NewApiKey } from '../../../src/persistence/keys/key-writes.js';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import { TestClock } from './clock.js';
import { ServiceLogger } from '../../../src/config/service-logger.js';
import { createTestDatabase } from '../database/database.js';
import { LogChecker } from './assert-log.js';
import { OpenApiValidator } from './openapi-validator.js';
import { ScriptedResolver } from './name-resolver.js';

export interface TestKey {
  readonly secret: string;
  readonly record: ApiKey;
}

export interface TestAccount {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly managementKey: string;
  readonly apiKey: string;
  /** The record of `apiKey`. */
  readonly key: ApiKey;
}

export interface TestApp extends TestAccount {
  readonly application: NestExpressApplication;
  /** Begins before the version prefix. */
  readonly origin: string;
  readonly baseUrl: string;
  readonly clock: TestClock;
  readonly databaseUrl: string;
  /** Requests against the listening socket: `app.http.post('/api/v1/embeddings')`. */
  readonly http: ReturnType<typeof supertest>;
  createAccount(): Promise<TestAccount>;
  createKey(overrides?: Partial<NewApiKey>): Promise<TestKey>;
  /** Plain SQL, to arrange what no operation can and to look at what is stored. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Another replica on the same database. */
  startReplica(): Promise<TestApp>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Variables beside the database and the encryption key. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: TestClock;
  /** How the names of destinations resolve; by default none does. */
  readonly resolver?: NameResolver;
  /** Uses this database instead of a new one, and does not drop it. */
  readonly databaseUrl?: string;
  /** The build of the console; by default that of this checkout. */
  readonly consoleDirectory?: string;
  /** Overrides further providers. */
  readonly override?: (testing: TestingModuleBuilder) => void;
}

export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');
// All apps of a file share both: Nest has one logger for the process, and the last app to close reports the problems. An
// app that reported its own would leave the others of its file open beside the files that follow.
const logChecker = new LogChecker([TEST_ENCRYPTION_KEY]);
const validator = new OpenApiValidator();
let open = 0;

export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.databaseUrl
    ? { url: options.databaseUrl, drop: () => Promise.resolve() }
    : await createTestDatabase();
  const clock = options.clock ?? new TestClock();
  const config = readAppConfig(
    {
      DATABASE_URL: database.url,
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
      DATABASE_POOL_SIZE: '5',
      // Apps of one test are replicas of different places.
      PORT: '0',
      // Written for assert-log.ts alone.
      LOG_LEVEL: 'debug',
      // A machine under load must not have calls refused that a test makes.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      PROVIDER_RETRY_BASE_DELAY_MS: '1',
      // Stubs of providers count what they are asked for.
      MODEL_DISCOVERY: 'off',
      // Where the fakes of the platforms listen.
      DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
      ...options.environment,
    },
    PROVIDERS.map(({ slug }) => slug),
  );
  const builder = Test.createTestingModule({ imports: [AppModule.forRoot(config)] })
    .overrideProvider(Clock)
    .useValue(clock)
    .overrideProvider(NameResolver)
    .useValue(options.resolver ?? new ScriptedResolver());
  options.override?.(builder);
  const testing = await builder.compile();
  const application = testing.createNestApplication<NestExpressApplication>(new ExpressServerAdapter(), {
    bodyParser: false,
    logger: new ServiceLogger(config, logChecker),
  });
  application.use(validator.watch);
  setUpApplication(application, options.consoleDirectory);
  await application.listen(0, '127.0.0.1').catch(async (error: unknown) => {
    await application.close();
    throw error;
  });
  open += 1;
  const server: Server = application.getHttpServer();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const accounts = application.get(AccountsRepository);
  const apiKeys = application.get(ApiKeysRepository);
  const sqlPool = new pg.Pool({ connectionString: database.url, max: 2 });
  // A test may take the database away; without a listener that would end the test process.
  sqlPool.on('error', () => undefined);
  const createKeyIn = async (
    account: { readonly accountId: string; readonly workspaceId: string },
    overrides: Partial<NewApiKey> = {},
  ): Promise<TestKey> => {
    const secret = createKeySecret();
    const record = await apiKeys.create({
      ...account,
      kind: 'inference',
      name: 'Test key',
      secret,
      limit: null,
      limitReset: null,
      includeByokInLimit: false,
      expiresAt: null,
      creatorUserId: null,
      ...overrides,
    });
    return { secret, record };
  };
  const createAccount = async (): Promise<TestAccount> => {
    const { id: accountId, defaultWorkspaceId: workspaceId } = await accounts.create('Test account');
    const management = await createKeyIn({ accountId, workspaceId }, { kind: 'management' });
    const inference = await createKeyIn({ accountId, workspaceId });
    return {
      accountId,
      workspaceId,
      managementKey: management.secret,
      apiKey: inference.secret,
      key: inference.record,
    };
  };
  const account = await createAccount();
  const app: TestApp = {
    ...account,
    application,
    origin,
    baseUrl: `${origin}/${API_PREFIX}`,
    clock,
    databaseUrl: database.url,
    http: supertest(origin),
    createAccount,
    createKey: (overrides) => createKeyIn(account, overrides),
    sql: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) => {
      const { rows } = await sqlPool.query<Row>(text, values);
      // The app must know of the statement's change as of its own.
      await application.get(Notifications).catchUp();
      return rows;
    },
    startReplica: () => createTestApp({ ...options, databaseUrl: database.url, clock }),
    close: async () => {
      server.closeAllConnections();
      await application.close();
      await sqlPool.end();
      forget(app);
      await database.drop();
      open -= 1;
      if (open > 0) return;
      // A later file without an app would log into the checker, for the app that follows.
      Logger.overrideLogger(false);
      reject('openapi.json does not say so', validator.problems.splice(0));
      reject('the log must not hold that', logChecker.problems.splice(0));
    },
  };
  return app;
}

/** The variables of a test file stay as long as its process: they must not keep the closed service. */
function forget(app: TestApp): void {
  const closed = (): never => {
    throw new Error('this app is closed');
  };
  const close = (): Promise<void> => Promise.resolve();
  Object.assign(app, { createAccount: closed, createKey: closed, sql: closed, startReplica: closed, close });
  Object.defineProperty(app, 'application', { get: closed });
}

function reject(message: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`${message}:\n${[...new Set(problems)].join('\n')}`);
}
