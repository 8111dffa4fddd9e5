// Broadcasting under test: generations written straight to the log, destinations that point at receivers on loopback.
import type { DestinationConfig, NewDestination } from '../../../src/domain/destinations/destination.js';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import type { GenerationContent } from '../../../src/domain/generations/generation-content.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import { GenerationPublisher } from '../../../src/deliveries/generation-publisher.js';
import { ConfigCipher } from '../../../src/persistence/encryption/config-cipher.js';
import { DeadLettersRepository } from '../../../src/persistence/deliveries/dead-letters.repository.js';
import { DestinationsRepository } from '../../../src/persistence/destinations/destinations.repository.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../app/app.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { eventually } from '../eventually.js';
import { contentOfText, createGeneration } from '../generations/generation.js';

/** Short pauses, and loopback allowed: what a test app of this suite needs beyond the usual. */
export const DELIVERY_ENVIRONMENT = {
  DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8',
  BROADCAST_RETRY_BASE_DELAY_MS: '1',
  BROADCAST_RETRY_MAX_DELAY_MS: '40',
  BROADCAST_SWEEP_INTERVAL_MS: '200',
};

export function createDeliveryApp(options: TestAppOptions = {}): Promise<TestApp> {
  return createTestApp({ ...options, environment: { ...DELIVERY_ENVIRONMENT, ...options.environment } });
}

/** A destination in the app's own workspace; by default a webhook. */
export function createDestination(
  app: TestApp,
  config: DestinationConfig,
  overrides: Partial<NewDestination> = {},
): Promise<Destination> {
  return app.application.get(DestinationsRepository).createWithinLimit({
    accountId: app.accountId,
    workspaceId: app.workspaceId,
    kind: 'webhook',
    type: 'webhook',
    name: 'Under test',
    enabled: true,
    privacyMode: false,
    broadcastCost: false,
    broadcastIdentity: false,
    broadcastRequestContext: false,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    regions: ['global'],
    config,
    ...overrides,
  });
}

/** Commits generations like calls with `key`, and publishes them. Returns their ids. */
export async function recordGenerations(
  app: TestApp,
  count: number,
  overrides: Partial<Generation> = {},
  content: GenerationContent | null = contentOfText('some text'),
  key = app.key,
): Promise<string[]> {
  const log = app.application.get(GenerationLog);
  const generations = Array.from({ length: count }, () =>
    createGeneration(key, { createdAt: app.clock.now(), ...overrides }),
  );
  await Promise.all(generations.map((generation) => log.append(generation, [], content)));
  for (const { workspaceId } of generations)
    app.application.get(GenerationPublisher).generationAppended(workspaceId);
  return generations.map(({ id }) => id);
}

export interface CursorRow {
  readonly delivered: string;
  readonly dropped: Readonly<Record<string, number>>;
  readonly failures: number;
  readonly last_error_class: string | null;
  readonly last_error_status: number | null;
  readonly last_error_message: string | null;
  readonly paused_at: Date | null;
  readonly consecutive_rejections: number;
  readonly lease_owner: string | null;
}

export async function readCursor(app: TestApp, destinationId: string): Promise<CursorRow> {
  const [row] = await app.sql<CursorRow & Record<string, unknown>>(
    'SELECT * FROM delivery_cursors WHERE destination_id = $1',
    [destinationId],
  );
  if (!row) throw new Error('no cursor');
  const { last_error_ciphertext: ciphertext, last_error_encryption_key_id: encryptionKeyId } = row;
  if (!(ciphertext instanceof Uint8Array)) return row;
  const encrypted = { ciphertext, encryptionKeyId: String(encryptionKeyId) };
  const text = app.application.get(ConfigCipher).decrypt(encrypted, `last error ${destinationId}`);
  return { ...row, last_error_message: String(text) };
}

/** The dead letters of a destination that no replay has delivered, with what the platform said. */
export async function readDeadLetters(
  app: TestApp,
  destinationId: string,
): Promise<
  {
    readonly generation_id: string;
    readonly reason: string;
    readonly message: string;
    readonly isRequested: boolean;
  }[]
> {
  const ref = { workspaceId: app.workspaceId, destinationId };
  const page = { offset: 0, limit: 1_000 };
  const { letters } = await app.application.get(DeadLettersRepository).list(ref, page);
  const kept = letters.filter(({ replay }) => replay?.isDelivered !== true);
  return kept.map(({ generationId, reason, message, isReplayRequested }) => ({
    generation_id: generationId,
    reason,
    message,
    isRequested: isReplayRequested,
  }));
}

/** Resolves when the cursor has counted so many confirmed generations. */
export function untilDelivered(app: TestApp, destinationId: string, count: number): Promise<CursorRow> {
  return eventually(
    () => readCursor(app, destinationId),
    ({ delivered }) => Number(delivered) >= count,
  );
}
