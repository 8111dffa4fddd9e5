// What the destination operations promise, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { requireDestinationKind } from '../destination-kinds/index.js';
import type { Caller } from '../domain/api-key.js';
import type { Destination } from '../domain/destination.js';
import { AppError } from '../domain/errors.js';
import { AccountsRepository } from '../persistence/accounts.repository.js';
import { ApiKeysRepository } from '../persistence/api-keys.repository.js';
import { DestinationsRepository } from '../persistence/destinations.repository.js';
import type { CreateDestinationDto } from './dto/create-destination.dto.js';
import { fromFilterRulesDto } from './dto/filter-rules.dto.js';

@Injectable()
export class DestinationsService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly apiKeys: ApiKeysRepository,
    private readonly destinations: DestinationsRepository,
  ) {}

  async create(caller: Caller, dto: CreateDestinationDto): Promise<Destination> {
    const { accountId } = caller.key;
    const workspaceId = await this.chooseWorkspace(accountId, dto.workspace_id);
    const apiKeyHashes = dto.api_key_hashes ? [...new Set(dto.api_key_hashes)] : null;
    if (apiKeyHashes) await this.refuseUnknownKeys(accountId, apiKeyHashes);
    return this.destinations.createWithinLimit({
      accountId,
      workspaceId,
      kind: requireDestinationKind(dto.type).type,
      type: dto.type,
      name: dto.name,
      enabled: dto.enabled,
      privacyMode: dto.privacy_mode,
      broadcastCost: dto.broadcast_generation_cost,
      broadcastIdentity: dto.broadcast_generation_identity,
      broadcastRequestContext: dto.broadcast_generation_request_context,
      samplingRate: dto.sampling_rate,
      apiKeyHashes,
      filterRules: dto.filter_rules ? fromFilterRulesDto(dto.filter_rules) : null,
      regions: dto.regions,
      config: { ...dto.config },
    });
  }

  /** Another account's workspace answers like one that does not exist (decisions 3). */
  private async chooseWorkspace(accountId: string, wanted: string | undefined): Promise<string> {
    if (wanted === undefined) return this.accounts.findDefaultWorkspaceId(accountId);
    const workspaceId = wanted.toLowerCase();
    if (await this.accounts.hasWorkspace(accountId, workspaceId)) return workspaceId;
    throw new AppError('invalid_request', { detail: 'workspace_id: no such workspace' });
  }

  private async refuseUnknownKeys(accountId: string, hashes: readonly string[]): Promise<void> {
    const unknown = await this.apiKeys.findUnknownHashes(accountId, hashes);
    if (unknown.length > 0) {
      throw new AppError('invalid_request', { detail: `api_key_hashes: no such key: ${unknown.join(', ')}` });
    }
  }
}
