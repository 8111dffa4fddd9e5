// The destination operations, beyond the shape of their bodies.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { TestableDestination } from '../deliveries/connection-test.js';
import { requireDestinationKind } from '../destination-kinds/index.js';
import { reachesWorkspace } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import type { Destination, DestinationConfig } from '../domain/destinations/destination.js';
import { AppError } from '../domain/errors.js';
import { omitUndefined } from '../domain/members.js';
import { changedConfig, newConfig } from '../http/configs/checked-config.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { UrlGuard } from '../outbound/connections/url-guard.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { KeyHashes } from '../persistence/keys/key-hashes.js';
import { DestinationsRepository } from '../persistence/destinations/destinations.repository.js';
import type {
  CreateDestinationDto,
  TestDestinationDto,
  UpdateDestinationDto,
} from './dto/destination-bodies.dto.js';
import { toDestinationDto } from './dto/destination.dto.js';
import type { DestinationsQueryDto } from './dto/destination.dto.js';
import { fromFilterRulesDto } from './dto/filter-rules.dto.js';
import type { PreviewSelectionDto } from './dto/selection-preview.dto.js';
import type { PreviewedRules } from './selection-preview.js';
import type { FilterRulesDto } from './dto/filter-rules.dto.js';

const AUDITED_DESTINATION: AuditedType<Destination> = {
  objectType: 'destination',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toDestinationDto,
};

@Injectable()
export class DestinationsService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly keyHashes: KeyHashes,
    private readonly destinations: DestinationsRepository,
    private readonly urlGuard: UrlGuard,
  ) {}

  async create(actor: Actor, dto: CreateDestinationDto): Promise<Destination> {
    const { accountId } = actor;
    const workspaceId = await this.accounts.chooseWorkspace(actor, dto.workspace_id);
    const apiKeyHashes = await this.checkedKeyHashes(actor, dto.api_key_hashes ?? null);
    const kind = requireDestinationKind(dto.type);
    const config = await newConfig(this.urlGuard, kind, dto.config, accountId);
    return this.destinations.createWithinLimit(
      {
        accountId,
        workspaceId,
        kind: kind.type,
        type: dto.type,
        name: dto.name,
        enabled: dto.enabled,
        privacyMode: dto.privacy_mode,
        broadcastCost: dto.broadcast_generation_cost,
        broadcastIdentity: dto.broadcast_generation_identity,
        broadcastRequestContext: dto.broadcast_generation_request_context,
        samplingRate: dto.sampling_rate,
        apiKeyHashes,
        filterRules: toFilterRules(dto.filter_rules ?? null),
        regions: dto.regions,
        config,
      },
      describeChange(actor, AUDITED_DESTINATION),
    );
  }

  async list(
    manager: Manager,
    query: DestinationsQueryDto,
  ): Promise<{ readonly destinations: readonly Destination[]; readonly total: number }> {
    const workspaceId = await this.accounts.chooseWorkspace(manager, query.workspace_id);
    return this.destinations.list(manager.accountId, workspaceId, query);
  }

  /** A destination that is not within reach answers like one that does not exist. */
  async get({ accountId, reach }: Manager, id: string): Promise<Destination> {
    const found = isUUID(id) ? await this.destinations.find(accountId, id) : null;
    return found && reachesWorkspace(reach, found.workspaceId) ? found : rejectUnknown();
  }

  async update(actor: Actor, id: string, dto: UpdateDestinationDto): Promise<Destination> {
    const before = await this.get(actor, id);
    rejectFixedChanges(dto, toDestinationDto(before));
    const change = omitUndefined({
      name: dto.name,
      enabled: dto.enabled,
      privacyMode: dto.privacy_mode,
      broadcastCost: dto.broadcast_generation_cost,
      broadcastIdentity: dto.broadcast_generation_identity,
      broadcastRequestContext: dto.broadcast_generation_request_context,
      samplingRate: dto.sampling_rate,
      apiKeyHashes:
        dto.api_key_hashes &&
        (await this.checkedKeyHashes(actor, dto.api_key_hashes, before.apiKeyHashes ?? [])),
      filterRules: dto.filter_rules && fromFilterRulesDto(dto.filter_rules),
      regions: dto.regions,
      config: dto.config && (await this.changedConfig(before, dto.config)),
    });
    if (Object.keys(change).length === 0) return before;
    const after = await this.destinations.update(before, change, describeChange(actor, AUDITED_DESTINATION));
    if (after) return after;
    throw new AppError('conflict', {
      detail: 'the destination was changed by another request; read it again and retry',
    });
  }

  /** The kind and the config that the body describes, as `create` or `update` would store them. */
  async resolveConfig(manager: Manager, dto: TestDestinationDto): Promise<TestableDestination> {
    const kind = requireDestinationKind(dto.type);
    if (dto.destination_id === undefined) {
      const config = await newConfig(this.urlGuard, kind, dto.config, manager.accountId);
      return { id: randomUUID(), accountId: manager.accountId, kind: kind.type, config };
    }
    const stored = await this.get(manager, dto.destination_id);
    if (stored.kind !== kind.type) {
      throw new AppError('invalid_request', { detail: 'type: must be that of the destination' });
    }
    return { ...stored, config: (await this.changedConfig(stored, { ...dto.config })) ?? stored.config };
  }

  /** The rules that the body describes, as `create` or `update` would store them. */
  async resolveSelection(manager: Manager, dto: PreviewSelectionDto): Promise<PreviewedRules> {
    const { accountId } = manager;
    const { destination_id: id, workspace_id: wanted, api_key_hashes: hashes, filter_rules: filter } = dto;
    const stored = id === undefined ? null : await this.get(manager, id);
    if (stored && wanted !== undefined && wanted.toLowerCase() !== stored.workspaceId) {
      throw new AppError('invalid_request', { detail: 'workspace_id: must be that of the destination' });
    }
    const storedHashes = stored?.apiKeyHashes ?? null;
    return {
      accountId,
      workspaceId: stored?.workspaceId ?? (await this.accounts.chooseWorkspace(manager, wanted)),
      regions: dto.regions ?? stored?.regions ?? ['global'],
      apiKeyHashes:
        hashes === undefined
          ? storedHashes
          : await this.checkedKeyHashes(manager, hashes, storedHashes ?? []),
      filterRules: filter === undefined ? (stored?.filterRules ?? null) : toFilterRules(filter),
    };
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.get(actor, id);
    const describe = describeChange(actor, AUDITED_DESTINATION);
    if (!(await this.destinations.delete(actor.accountId, id, describe))) rejectUnknown();
  }

  private changedConfig(
    stored: Destination,
    sent: DestinationConfig,
  ): Promise<DestinationConfig | undefined> {
    return changedConfig(this.urlGuard, requireDestinationKind(stored.kind), stored, sent);
  }

  /**
   * The hashes of the records, each once; throws when no such key is within reach. Hashes that were stored before may name
   * deleted keys.
   */
  private async checkedKeyHashes<Hashes extends readonly string[] | null>(
    manager: Manager,
    given: Hashes,
    stored: readonly string[] = [],
  ): Promise<Hashes | string[]> {
    if (given === null) return given;
    const { hashes, unknown } = await this.keyHashes.check(manager, given, stored);
    if (unknown.length === 0) return hashes;
    throw new AppError('invalid_request', { detail: `api_key_hashes: no such key: ${unknown.join(', ')}` });
  }
}

function rejectUnknown(): never {
  throw new AppError('not_found', { detail: 'no such destination' });
}

function toFilterRules(dto: FilterRulesDto | null) {
  return dto && fromFilterRulesDto(dto);
}
