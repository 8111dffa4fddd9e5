// One account's journey through every operation of openapi.json: what each was asked, and what it really answered.
import { readFileSync } from 'node:fs';
import { ask } from '../requests/admin.js';
import type { TestApp } from '../app/app.js';
import { makeOperator } from '../catalogue/operator-apps.js';
import { DELIVERY_ENVIRONMENT, readCursor } from '../deliveries/deliveries.js';
import { startWithTexts } from '../requests/cached-embedding.js';
import { eventually } from '../eventually.js';
import { untilSent } from '../deliveries/notifications.js';
import { startReceiver } from '../receivers/receiver.js';
import type { RunningReceiver } from '../receivers/receiver.js';
import { answerLikeVendor, WIRES } from '../rerank/rerank-upstream.js';
import { startStubUpstream } from '../upstreams/stub-upstream.js';
import { fillWith, NAMED_ROUTES } from '../requests/routes.js';
import type { NamedRoute } from '../requests/routes.js';
import { spendShare } from '../deliveries/spend-share.js';
import { generationsIn, traceCollector } from '../deliveries/trace-collector.js';
import { embed, LOCAL, SMALL } from '../requests/create-embedding.js';
import { recordRefusals } from '../requests/refusals.js';
import { createSigningKey } from '../federation/issuer.js';
import type { SigningKey } from '../federation/issuer.js';
import { goodClaims } from '../federation/exchange.js';
import { EXAMPLE_BODIES, only } from './bodies.js';
import type { ExampleBody } from './bodies.js';
import { Placeholders } from './placeholders.js';

/** As a media type object of OpenAPI has it. */
export interface Shown {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

/** The examples of one operation, under `request` and under the status of its answer. */
export type ExamplesOfOperation = Readonly<Record<string, Shown>>;

export interface DocumentedOperation {
  readonly operationId: string;
  readonly path: string;
  readonly method: string;
  readonly takesBody: boolean;
  /** The status of its success. */
  readonly status: string;
}

const PREFIX = '/api/v1';
const SIGN_IN_ENVIRONMENT = {
  PUBLIC_URL: 'https://signalbox.example.com',
  OIDC_ISSUER: 'https://id.example.com',
  OIDC_CLIENT_ID: 'signalbox',
  OIDC_CLIENT_SECRET: 'the-secret-of-the-client',
  OIDC_NAME: 'Example',
};
const PERSON = 'usr_0123456789abcdef0123456789abcdef';
/** No operation makes people: they sign in. */
const ADD_PERSON = `INSERT INTO persons
  (account_id, id, issuer, subject, email, first_name, last_name, created_at, last_sign_in_at, keys_valid_until)
  VALUES ($1, $2, 'https://id.example.com', 'ann', 'ann@example.com', 'Ann', 'Lee', $3, $3, $3::timestamptz + interval '30 days')`;
const FIRST = [
  'createWorkspace',
  'createKeys',
  'createObservabilityDestination',
  'createEmbeddings',
  'createBYOKKey',
  'createNotification',
  'createAuthKeysCode',
  'exchangeAuthCodeForAPIKey',
  'createFederationPolicy',
  'updateFederationPolicy',
  'createGroupMapping',
  'putCatalogueModel',
  'createCatalogueImport',
  'applyCatalogueImport',
  'putOwnKeyPolicy',
  'upsertWorkspaceBudget',
  'bulkAddWorkspaceMembers',
  'createGuardrail',
  'bulkAssignKeysToGuardrail',
  'bulkAssignMembersToGuardrail',
  'createPresetsChatCompletions',
  'createPresetsMessages',
  'createPresetsResponses',
  'discoverProviderModels',
];
const LAST = [
  'bulkUnassignKeysFromGuardrail',
  'bulkUnassignMembersFromGuardrail',
  'deleteGuardrail',
  'deleteFederationPolicy',
  'deleteGroupMapping',
  'bulkRemoveWorkspaceMembers',
  'deleteObservabilityDestination',
  'deleteBYOKKey',
  'discardCatalogueImport',
  'revertCatalogueChange',
  'deleteCatalogueModel',
  'deleteNotification',
  'deletePreset',
  'deleteWorkspaceBudget',
  'deleteKeys',
  'deleteWorkspace',
];
// Where the row in test/support/requests/routes.ts would show little.
const PATHS: Readonly<Record<string, string>> = {
  getModels: '/models?output_modalities=embeddings',
  listModelsUser: '/models/user?output_modalities=embeddings',
  listModelsCount: '/models/count?output_modalities=embeddings',
  getModel: '/model/openai/text-embedding-3-small',
  getModelBySlug: '/models/openai/text-embedding-3-small',
  getModelByName: '/models/openai%2Ftext-embedding-3-small',
  listEndpoints: '/models/openai/text-embedding-3-small/endpoints',
  listCatalogueModels: '/catalogue/models?source=operator',
  getCatalogueModel: '/catalogue/models/acme/chat-1',
  testProvider: '/providers/local/test',
  listCatalogueImports: '/catalogue/imports',
  listNotifications: '/notifications',
  listRefusals: '/refusals',
  createPresetsChatCompletions: '/presets/owned/chat/completions',
  createPresetsMessages: '/presets/owned/messages',
  createPresetsResponses: '/presets/owned/responses',
  listPresets: '/presets',
};
/** A model that ends while it is asked for. */
const ENDING = '/catalogue/models/openai/text-embedding-ada-002';
const A_DAY_MS = 86_400_000;
// Between two questions, so that lists have an order.
const A_MOMENT_MS = 1_000;

interface OpenApiDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly requestBody?: object;
            readonly responses: Readonly<Record<string, object>>;
          }
        >
      >
    >
  >;
}

export function documentedOperations(): DocumentedOperation[] {
  const text = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as OpenApiDocument;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, requestBody, responses }]) => ({
      operationId,
      path,
      method,
      takesBody: requestBody !== undefined,
      status: Object.keys(responses).find((status) => status.startsWith('2')) ?? '',
    })),
  );
}

/** Creations come before reads, and deletions come last. */
function inOrder(operations: readonly DocumentedOperation[]): DocumentedOperation[] {
  const named = (names: readonly string[]) =>
    names.flatMap((name) => operations.filter(({ operationId }) => operationId === name));
  const rest = operations.filter(({ operationId }) => ![...FIRST, ...LAST].includes(operationId));
  return [...named(FIRST), ...rest, ...named(LAST)];
}

interface Answered {
  readonly example: ExampleBody;
  readonly asked: unknown;
  readonly answer: unknown;
}

class Journey {
  private readonly objects = new Map<string, string>();
  private readonly fill = fillWith(this.objects);
  private poison: string | undefined;

  constructor(
    private readonly app: TestApp,
    private readonly receiver: RunningReceiver,
    private readonly issuer: SigningKey,
  ) {
    this.objects.set('hook', receiver.origin);
    this.objects.set('key_x', issuer.publicKey.x ?? '');
    this.objects.set('key_y', issuer.publicKey.y ?? '');
  }

  /** Whether the receiver refuses what it was sent. */
  readonly rejects = (ids: readonly string[]): boolean => ids.some((id) => id === this.poison);

  async ask(operation: DocumentedOperation): Promise<Answered[]> {
    const route = NAMED_ROUTES.find(
      ({ name }) => name === `${operation.method.toUpperCase()} ${operation.path.slice(PREFIX.length)}`,
    );
    if (!route) throw new Error(`${operation.operationId} has no row in test/support/requests/routes.ts`);
    const examples = EXAMPLE_BODIES[operation.operationId];
    if (operation.takesBody && !examples) throw new Error(`${operation.operationId} has no example body`);
    await this.before(operation);
    const answered: Answered[] = [];
    const path = PATHS[operation.operationId] ?? route.path;
    for (const example of examples ?? only({})) {
      const body = this.fill(example.body);
      this.app.clock.advance(A_MOMENT_MS);
      const { status, body: answer } = route.isForm
        ? await this.app.http
            .post(PREFIX + path)
            .type('form')
            .send(body)
        : await ask(this.app, route.method, this.fill(path), {
            ...this.credentialFor(route),
            ...(examples ? { body } : {}),
          });
      if (String(status) !== operation.status) {
        throw new Error(`${operation.operationId}: ${status} ${JSON.stringify(answer)}`);
      }
      answered.push({ example, asked: body, answer });
      this.remember(operation.operationId, answer);
      // One replay at a time.
      if (operation.operationId === 'replayDeliveries') await this.untilNoReplayRuns();
    }
    await this.after(operation);
    return answered;
  }

  private async untilNoReplayRuns(): Promise<void> {
    await eventually(
      () => this.app.sql('SELECT 1 FROM dead_letters WHERE replay_requested_at IS NOT NULL'),
      (letters) => letters.length === 0,
    );
  }

  private credentialFor({ access }: NamedRoute): { key?: string } {
    const secret = this.objects.get('secret');
    return access === 'management' || secret === undefined ? {} : { key: secret };
  }

  /** The first of each kind is the one that is looked at. */
  private remember(operationId: string, answer: unknown): void {
    const { data, key, id, model } = answer as {
      data: { id: string; hash: string };
      key: string;
      id: string;
      model: string;
    };
    const made: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      createWorkspace: { workspace: data?.id },
      createKeys: { hash: data?.hash, secret: key },
      createObservabilityDestination: { destination: data?.id },
      createBYOKKey: { credential: data?.id },
      createNotification: { notification: data?.id },
      createGuardrail: { guardrail: data?.id },
      createFederationPolicy: { policy: data?.id },
      createGroupMapping: { mapping: data?.id },
      createAuthKeysCode: { code: data?.id },
      createCatalogueImport: { import: data?.id },
      // A provider's call shows more than one of the embedded model.
      ...(model === LOCAL ? {} : { createEmbeddings: { generation: id } }),
    };
    for (const [name, value] of Object.entries(made[operationId] ?? {})) {
      if (!this.objects.has(name)) this.objects.set(name, value);
    }
  }

  private async before({ operationId }: DocumentedOperation): Promise<void> {
    // So that the calls stay together until it is known which of them is to become a dead letter.
    if (operationId === 'createEmbeddings') this.receiver.always({ status: 503 });
    if (operationId === 'createOauthToken') {
      const claims = {
        ...goodClaims(this.app),
        iss: 'https://token.actions.githubusercontent.com',
        repository_visibility: 'private',
      };
      this.objects.set('subject_token', await this.issuer.sign(claims));
    }
    if (operationId === 'createGroupMapping') {
      this.objects.set('person', PERSON);
      await this.app.sql(ADD_PERSON, [this.app.accountId, PERSON, this.app.clock.now()]);
    }
    if (operationId === 'getCredits') {
      await this.app.sql('UPDATE accounts SET credits = 25 WHERE id = $1', [this.app.accountId]);
    }
    if (operationId === 'listNotificationEvents') {
      await spendShare(this.app, this.app, 80);
      await untilSent(this.app, this.objects.get('notification') ?? '');
    }
    if (operationId === 'listRefusals') {
      const poor = await this.app.createKey({ name: 'Search service', limit: 1n, limitReset: 'daily' });
      await embed(this.app, { model: SMALL, input: 'The quick brown fox' }, poor.secret);
      await recordRefusals(this.app);
    }
    if (operationId === 'listExpiringModels') {
      const model = { expires_on: '2027-03-31', successor: SMALL };
      await ask(this.app, 'put', ENDING, { body: { kind: 'models', model } });
    }
    // Its days are those that are over.
    if (operationId === 'getUserActivity') this.app.clock.advance(A_DAY_MS);
  }

  private async after({ operationId }: DocumentedOperation): Promise<void> {
    if (operationId === 'listExpiringModels') await ask(this.app, 'delete', ENDING);
    if (operationId !== 'createEmbeddings') return;
    const last = await this.app.sql<{ id: string }>('SELECT id FROM generations ORDER BY id DESC LIMIT 1');
    this.poison = last[0]?.id;
    this.receiver.always(null);
    await eventually(
      () => readCursor(this.app, this.objects.get('destination') ?? ''),
      ({ dropped, delivered }) =>
        dropped['refused'] === 1 && Number(delivered) + 1 === EXAMPLE_BODIES[operationId]?.length,
    );
  }
}

function shownAs(cases: readonly { readonly example: ExampleBody; readonly value: unknown }[]): Shown {
  if (cases.length === 1) return { example: cases[0]?.value };
  return {
    examples: Object.fromEntries(
      cases.map(({ example: { name, summary }, value }) => [name, { summary, value }]),
    ),
  };
}

/** Asks every operation, and answers what may be printed of it, by operationId. */
export async function takeExamples(): Promise<Record<string, ExamplesOfOperation>> {
  let journey: Journey | undefined;
  const issuer = await createSigningKey('key-1');
  const receiver = await startReceiver({
    check: (request) => {
      if (request.path === '/alerts') return { reply: { status: 204 }, stored: [] };
      return journey?.rejects(generationsIn(request))
        ? { reply: { status: 422, body: 'not a trace of ours' }, stored: [] }
        : traceCollector.check(request);
    },
  });
  const cohere = await startStubUpstream((request, response) =>
    answerLikeVendor(request, response, WIRES[0]!),
  );
  const service = await startWithTexts({
    ...DELIVERY_ENVIRONMENT,
    ...SIGN_IN_ENVIRONMENT,
    COHERE_API_KEY: 'key',
    COHERE_BASE_URL: cohere.origin,
  });
  makeOperator(service.app);
  try {
    journey = new Journey(service.app, receiver, issuer);
    const placeholders = new Placeholders({
      [receiver.origin]: 'https://hooks.example.com',
      [issuer.publicKey.x ?? '']: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      [issuer.publicKey.y ?? '']: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    });
    const examples: Record<string, ExamplesOfOperation> = {};
    for (const operation of inOrder(documentedOperations())) {
      const answered = await journey.ask(operation);
      const shown = (pick: (one: Answered) => unknown): Shown =>
        shownAs(answered.map((one) => ({ example: one.example, value: pick(one) })));
      examples[operation.operationId] = {
        ...(operation.takesBody ? { request: shown(({ asked }) => placeholders.print(asked, false)) } : {}),
        [operation.status]: shown(({ answer }) => placeholders.print(answer, true)),
      };
    }
    return examples;
  } finally {
    await service.close();
    await receiver.close();
    await cohere.close();
  }
}
