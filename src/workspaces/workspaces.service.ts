// The workspace operations, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { AppConfig } from '../config/app-config.js';
import { reachesWorkspace, userOfManager } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import { omitUndefined } from '../domain/members.js';
import type { Page, PageRequest } from '../domain/page.js';
import type { Workspace } from '../domain/workspace.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import type { WorkspaceSummary } from '../persistence/workspaces/workspace-summaries.js';
import { WorkspacesRepository } from '../persistence/workspaces/workspaces.repository.js';
import type { CreateWorkspaceDto, UpdateWorkspaceDto } from './dto/workspace-bodies.dto.js';
import { toWorkspaceDto } from './dto/workspace.dto.js';

export interface SummarisedWorkspace {
  readonly workspace: Workspace;
  readonly summary: WorkspaceSummary;
}

const AUDITED_WORKSPACE: AuditedType<Workspace> = {
  objectType: 'workspace',
  objectId: ({ id }) => id,
  workspaceId: ({ id }) => id,
  state: toWorkspaceDto,
};

@Injectable()
export class WorkspacesService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly workspaces: WorkspacesRepository,
    private readonly config: AppConfig,
  ) {}

  async create(actor: Actor, dto: CreateWorkspaceDto): Promise<Workspace> {
    const settings = {
      name: dto.name,
      slug: dto.slug,
      description: dto.description ?? null,
      isBroadcastEnabled: dto.is_observability_broadcast_enabled ?? true,
      createdBy: userOfManager(actor),
    };
    return this.workspaces.create(
      actor.accountId,
      settings,
      describeChange(actor, AUDITED_WORKSPACE),
      this.config.quotas.workspacesPerAccount,
    );
  }

  async list(manager: Manager, page: PageRequest): Promise<Page<SummarisedWorkspace>> {
    const { items, total } = await this.workspaces.list(manager, page);
    const summaries = await this.workspaces.summarise(items.map(({ id }) => id));
    // A workspace that was purged in between has none.
    const summarised = items.flatMap((workspace) => {
      const summary = summaries.get(workspace.id);
      return summary ? [{ workspace, summary }] : [];
    });
    return { items: summarised, total };
  }

  /** By its id or its slug. A workspace that is not within reach answers like one that does not exist. */
  async get({ accountId, reach }: Manager, ref: string): Promise<Workspace> {
    const found = isUUID(ref)
      ? await this.workspaces.findById(accountId, ref)
      : await this.findBySlug(accountId, ref);
    if (!found || !reachesWorkspace(reach, found.id)) throw noSuchWorkspace();
    return found;
  }

  async update(actor: Actor, ref: string, dto: UpdateWorkspaceDto): Promise<Workspace> {
    const workspace = await this.get(actor, ref);
    rejectFixedChanges(dto, toWorkspaceDto(workspace));
    const change = omitUndefined({
      name: dto.name,
      slug: dto.slug,
      description: dto.description,
      isBroadcastEnabled: dto.is_observability_broadcast_enabled,
    });
    if (Object.keys(change).length === 0) return workspace;
    const updated = await this.workspaces.update(workspace, change, describeChange(actor, AUDITED_WORKSPACE));
    if (!updated) throw noSuchWorkspace();
    return updated;
  }

  async delete(actor: Actor, ref: string, isConfirmed: boolean): Promise<void> {
    const workspace = await this.get(actor, ref);
    const isDefault = await this.accounts.isDefaultWorkspace(workspace);
    if (isDefault && !isConfirmed) {
      throw new AppError('invalid_request', {
        detail: 'this is the default workspace: its deletion needs confirm_default_workspace_deletion=true',
      });
    }
    const isDeleted = await this.workspaces.delete(
      workspace,
      { disablesKeys: isDefault },
      describeChange(actor, AUDITED_WORKSPACE),
    );
    if (!isDeleted) throw noSuchWorkspace();
  }

  private async findBySlug(accountId: string, slug: string): Promise<Workspace | null> {
    // Text that cannot be a slug is not looked up: the database might not even be able to compare it.
    return /^[a-z0-9-]{1,50}$/.test(slug) ? this.workspaces.findBySlug(accountId, slug) : null;
  }
}

export function noSuchWorkspace(): AppError {
  return new AppError('not_found', { detail: 'no such workspace' });
}
