// The bounds of keys that developers make for themselves in a workspace.
import { Injectable } from '@nestjs/common';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { rejectMember } from '../domain/errors.js';
import type { StoredOwnKeyPolicy } from '../domain/keys/own-key-policy.js';
import type { Manager } from '../domain/people/manager.js';
import { parseUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { OwnKeyPoliciesRepository } from '../persistence/keys/own-key-policies.repository.js';
import { toOwnKeyPolicyDto } from './dto/own-key-policy.dto.js';
import type { PutOwnKeyPolicyDto } from './dto/own-key-policy.dto.js';
import { noSuchWorkspace, WorkspacesService } from './workspaces.service.js';

const AUDITED_POLICY: AuditedType<StoredOwnKeyPolicy> = {
  objectType: 'own_key_policy',
  objectId: ({ workspaceId }) => workspaceId,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toOwnKeyPolicyDto,
};

@Injectable()
export class OwnKeyPoliciesService {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly policies: OwnKeyPoliciesRepository,
  ) {}

  async get(manager: Manager, ref: string): Promise<StoredOwnKeyPolicy> {
    const { id } = await this.workspaces.get(manager, ref);
    return this.policies.find(id);
  }

  /** Replaces it as a whole. */
  async put(actor: Actor, ref: string, dto: PutOwnKeyPolicyDto): Promise<StoredOwnKeyPolicy> {
    const workspace = await this.workspaces.get(actor, ref);
    rejectFixedChanges(dto, { workspace_id: workspace.id });
    const defaultLimit = toAmount(dto.default_limit);
    const maxLimit = toAmount(dto.max_limit);
    if (defaultLimit !== null && maxLimit !== null && defaultLimit > maxLimit)
      rejectMember('default_limit', 'must be at most max_limit');
    const policy = {
      enabled: dto.enabled,
      maxKeys: dto.max_keys,
      defaultLimit,
      maxLimit,
      limitReset: dto.limit_reset ?? null,
      maxDays: dto.max_days ?? null,
      includeByokInLimit: dto.include_byok_in_limit ?? false,
    };
    const stored = await this.policies.put(workspace, policy, describeChange(actor, AUDITED_POLICY));
    if (!stored) throw noSuchWorkspace();
    return stored;
  }
}

/** The nearest amount that the database stores. */
function toAmount(usd: number | null | undefined): PicoUsd | null {
  return usd === null || usd === undefined ? null : parseUsd(usd.toFixed(12));
}
