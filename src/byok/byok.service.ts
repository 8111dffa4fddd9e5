// The /byok operations: customers' own keys at providers.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { reachesWorkspace } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { AppError } from '../domain/errors.js';
import { omitUndefined } from '../domain/members.js';
import type { Page } from '../domain/page.js';
import type {
  ProviderCredentialChange,
  ProviderCredentialRecord,
} from '../domain/providers/provider-credential.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { KeyHashes } from '../persistence/keys/key-hashes.js';
import { ProviderCredentialsRepository } from '../persistence/keys/provider-credentials.repository.js';
import { toByokKeyDto } from './dto/byok-key.dto.js';
import type { CreateByokKeyDto, ListByokKeysQueryDto, UpdateByokKeyDto } from './dto/byok-key-bodies.dto.js';

const AUDITED_CREDENTIAL: AuditedType<ProviderCredentialRecord> = {
  objectType: 'provider_credential',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toByokKeyDto,
};

@Injectable()
export class ByokService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly keyHashes: KeyHashes,
    private readonly credentials: ProviderCredentialsRepository,
  ) {}

  async create(actor: Actor, dto: CreateByokKeyDto): Promise<ProviderCredentialRecord> {
    const { accountId } = actor;
    const workspaceId = await this.accounts.chooseWorkspace(actor, dto.workspace_id);
    const allowedKeys = await this.checkedKeys(actor, dto.allowed_api_key_hashes);
    const settings = {
      name: null,
      disabled: false,
      isFallback: false,
      isRequired: false,
      isByokOnly: false,
      sortOrder: 0,
      allowedModels: [],
      allowedApiKeyHashes: [],
      allowedUserIds: [],
      declaredZdr: null,
      ...toChange(dto, allowedKeys),
    };
    rejectContradiction(settings);
    return this.credentials.create(
      { ...settings, accountId, workspaceId, provider: dto.provider, apiKey: dto.key },
      describeChange(actor, AUDITED_CREDENTIAL),
    );
  }

  async list(manager: Manager, query: ListByokKeysQueryDto): Promise<Page<ProviderCredentialRecord>> {
    const workspaceId = await this.accounts.chooseWorkspace(manager, query.workspace_id);
    return this.credentials.list({ workspaceId, provider: query.provider }, query);
  }

  /** A credential that is not within reach answers like one that does not exist. */
  async get({ accountId, reach }: Manager, id: string): Promise<ProviderCredentialRecord> {
    const found = isUUID(id) ? await this.credentials.find(accountId, id) : null;
    if (!found || !reachesWorkspace(reach, found.workspaceId)) throw noSuchCredential();
    return found;
  }

  async update(actor: Actor, id: string, dto: UpdateByokKeyDto): Promise<ProviderCredentialRecord> {
    const { accountId } = actor;
    const stored = await this.get(actor, id);
    const { allowed_api_key_hashes: hashes } = dto;
    const change = toChange(dto, await this.checkedKeys(actor, hashes, stored.allowedApiKeyHashes));
    const decide = (before: ProviderCredentialRecord): ProviderCredentialChange => {
      rejectFixedChanges(dto, toByokKeyDto(before));
      rejectContradiction({ ...before, ...change });
      return change;
    };
    if (Object.keys(change).length === 0) {
      decide(stored);
      return stored;
    }
    const describe = describeChange(actor, AUDITED_CREDENTIAL, dto.key === undefined ? 'update' : 'rotate');
    const updated = await this.credentials.update(accountId, id, decide, describe);
    if (!updated) throw noSuchCredential();
    return updated;
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.get(actor, id);
    const describe = describeChange(actor, AUDITED_CREDENTIAL);
    if (!(await this.credentials.delete(actor.accountId, id, describe))) throw noSuchCredential();
  }

  /** The hashes of the records. Hashes that were stored before may name deleted keys. */
  private async checkedKeys(
    manager: Manager,
    given: readonly string[] | null | undefined,
    stored: readonly string[] = [],
  ): Promise<readonly string[] | null | undefined> {
    if (!given) return given;
    const { hashes, unknown } = await this.keyHashes.check(manager, given, stored);
    if (unknown.length > 0) {
      throw new AppError('invalid_request', {
        detail: `allowed_api_key_hashes: no such key: ${unknown.join(', ')}`,
      });
    }
    return hashes;
  }
}

/** The members that were sent; null clears a list. */
function toChange(
  dto: UpdateByokKeyDto,
  allowedKeys: readonly string[] | null | undefined,
): ProviderCredentialChange {
  const list = (given: readonly string[] | null | undefined): string[] | undefined =>
    given === undefined ? undefined : [...new Set(given)];
  return omitUndefined({
    apiKey: dto.key,
    name: dto.name,
    disabled: dto.disabled,
    isFallback: dto.is_fallback,
    isRequired: dto.is_required,
    isByokOnly: dto.is_byok_only,
    sortOrder: dto.sort_order,
    allowedModels: list(dto.allowed_models),
    allowedApiKeyHashes: list(allowedKeys),
    allowedUserIds: list(dto.allowed_user_ids),
    declaredZdr: dto.declared_zdr,
  });
}

function rejectContradiction({
  isFallback,
  isByokOnly,
}: Pick<ProviderCredentialRecord, 'isFallback' | 'isByokOnly'>): void {
  if (isFallback && isByokOnly) {
    throw new AppError('invalid_request', { detail: 'is_fallback cannot be combined with is_byok_only' });
  }
}

function noSuchCredential(): AppError {
  return new AppError('not_found', { detail: 'no such provider credential' });
}
