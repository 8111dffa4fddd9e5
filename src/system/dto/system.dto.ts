// The state of the service on the wire: an extension of the contract. Contract: docs/contract.md#system.
import { ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  FlagField,
  IntegerField,
  NumberField,
  TextField,
  TimeField,
} from '../../http/fields/scalar-fields.js';
import type { System } from '../system.service.js';

const MAX_UNREAD = 100;

class MigrationsDto {
  @IntegerField({ description: 'Migrations of this build that the database has.' }) applied: number;
  @TextField({ nullable: true }) latest: string | null;
  @ListField(String, { example: [] }) pending: readonly string[];
}

class ProcessesDto {
  @IntegerField({
    description:
      'Processes that are connected to the database: workers and delivery processes of all replicas.',
  })
  live: number;
  @IntegerField({ description: 'Workers of the replica that answers.' }) workers: number;
  @FlagField({ description: 'Whether the replica that answers delivers in a process of its own.' })
  delivery_process: boolean;
  @FlagField({
    description:
      'Whether the process that answers shares rate limits through Redis now; false: REDIS_URL is not set, or Redis does not answer.',
  })
  shared_rate_limits: boolean;
}

class BacklogDto {
  @IntegerField({
    description: 'Enabled destinations of the account; of more than 1,000, the oldest 1,000 are described.',
  })
  destinations: number;
  @IntegerField({ description: 'Destinations with undelivered generations.' }) waiting: number;
  @IntegerField() retrying: number;
  @IntegerField() paused: number;
  @TimeField({ nullable: true, description: 'The oldest undelivered generation of the account.' })
  oldest_pending_at: string | null;
  @NumberField({
    description: 'Age of the oldest open transaction, which holds back all deliveries, in seconds; 0: none.',
  })
  held_back_seconds: number;
  @TextField({
    nullable: true,
    description: 'The database of that transaction: `this database` or `another database`.',
  })
  held_back_by: string | null;
}

class CacheDto {
  @IntegerField({ description: 'Bytes of the embedding cache of a process; 0: off.' }) max_bytes: number;
  @NumberField({ description: 'Seconds.' }) ttl: number;
  @IntegerField({ description: 'Inputs answered from the cache by the process that answers.' }) hits: number;
  @IntegerField() misses: number;
}

class EncryptionKeyUseDto {
  @TextField({ example: '72cd6e84' }) id: string;
  @IntegerField({ description: 'Destinations and provider credentials of the account.' }) rows: number;
}

class EncryptionDto {
  @TextField({ nullable: true, example: '72cd6e84', description: 'The key that encrypts.' })
  current_key_id: string | null;
  @ListField(String, { description: 'Keys of ENCRYPTION_KEYS.' }) known_key_ids: readonly string[];
  @ObjectListField(EncryptionKeyUseDto) key_ids_in_use: EncryptionKeyUseDto[];
}

class ProviderAddressDto {
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ example: 'OPENAI_BASE_URL', description: 'The variable to check.' }) variable: string;
  @IntegerField({ nullable: true, description: "The provider's answer; null: no TLS connection." })
  status: number | null;
  @TextField({ description: 'The problem, and its remedy.' }) problem: string;
  @TimeField({ description: 'The last call that found it.' }) last_seen_at: string;
}

class UnreadRevisionDto {
  @IntegerField() version: number;
  @TextField({ example: 'acme/chat-1' }) id: string;
  @TextField({ description: 'Why the process that answers cannot read it.' }) problem: string;
}

class CatalogueDto {
  @TextField({
    nullable: true,
    example: 'catalogue.yaml',
    description: 'The name of CATALOGUE_FILE; null: the shipped models alone.',
  })
  file: string | null;
  @TimeField({ description: 'When the process that answers loaded it.' }) loaded_at: string;
  @TextField({ nullable: true, description: 'Why a later change of the file is not in force; null: none.' })
  problem: string | null;
  @IntegerField({ description: 'Embedding models.' }) embedding_models: number;
  @IntegerField() chat_models: number;
  @IntegerField() rerank_models: number;
  @IntegerField({
    description: 'The newest stored revision that the process that answers has applied; 0: none.',
  })
  version: number;
  @IntegerField({ description: 'The newest stored revision.' }) newest_version: number;
  @ObjectListField(UnreadRevisionDto, {
    description:
      'Revisions that the process that answers cannot read, 100 at most: their models are as they were before.',
    example: [],
  })
  unread_revisions: UnreadRevisionDto[];
}

export class SystemDto {
  @TextField({ example: '0.1.0' }) version: string;
  @TextField({ example: 'v24.0.0' }) node_version: string;
  @TextField({ example: '18.1' }) postgres_version: string;
  @TimeField({ description: 'Start of the process that answers.' }) started_at: string;
  @ObjectField(MigrationsDto) migrations: MigrationsDto;
  @ObjectField(ProcessesDto) processes: ProcessesDto;
  @ObjectField(BacklogDto) deliveries: BacklogDto;
  @ObjectField(CacheDto) cache: CacheDto;
  @ObjectField(EncryptionDto) encryption: EncryptionDto;
  @ObjectField(CatalogueDto) catalogue: CatalogueDto;
  @ObjectListField(ProviderAddressDto, {
    description:
      'Addresses of providers that have moved or are wrong, as the process that answers saw it: no later call was served there.',
    example: [],
  })
  provider_addresses: ProviderAddressDto[];
}

export function toSystemDto(system: System): SystemDto {
  const { backlog, horizon, cache } = system;
  return {
    version: system.version,
    node_version: process.version,
    postgres_version: system.postgresVersion,
    started_at: system.startedAt.toISOString(),
    migrations: { ...system.migrations },
    processes: {
      live: system.processes,
      workers: system.workers,
      delivery_process: system.hasDeliveryProcess,
      shared_rate_limits: system.sharesRateLimits,
    },
    deliveries: {
      destinations: backlog.destinations,
      waiting: backlog.waiting,
      retrying: backlog.retrying,
      paused: backlog.paused,
      oldest_pending_at: backlog.oldestPendingAt?.toISOString() ?? null,
      held_back_seconds: Math.round(horizon.heldBackSeconds * 1_000) / 1_000,
      held_back_by: horizon.heldBackBy,
    },
    cache: { max_bytes: cache.bytes, ttl: cache.seconds, hits: cache.hits, misses: cache.misses },
    encryption: {
      current_key_id: system.encryptionKeyIds[0] ?? null,
      known_key_ids: system.encryptionKeyIds,
      key_ids_in_use: system.keyUse.map(({ id, rows }) => ({ id, rows })),
    },
    catalogue: {
      file: system.catalogue.file,
      loaded_at: system.catalogue.loadedAt.toISOString(),
      problem: system.catalogue.problem,
      embedding_models: system.catalogue.models,
      chat_models: system.catalogue.chatModels,
      rerank_models: system.catalogue.rerankModels,
      version: system.catalogue.version,
      newest_version: system.newestRevision,
      unread_revisions: system.catalogue.unreadable
        .slice(0, MAX_UNREAD)
        .map(({ version, id, problem }) => ({ version, id, problem: problem ?? '' })),
    },
    provider_addresses: system.wrongAddresses.map(({ provider, variable, status, text, lastSeenAt }) => ({
      provider,
      variable,
      status,
      problem: text,
      last_seen_at: lastSeenAt.toISOString(),
    })),
  };
}
