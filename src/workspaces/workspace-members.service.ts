import { Injectable } from '@nestjs/common';
import { RateLimiter } from '../auth/rate-limiter.js';
import { AppConfig } from '../config/app-config.js';
import { AppError } from '../domain/errors.js';
import type { Manager } from '../domain/people/manager.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import type { Page, PageRequest } from '../domain/page.js';
import type { WorkspaceMember } from '../domain/workspace.js';
import { WorkspaceMembersRepository } from '../persistence/workspaces/workspace-members.repository.js';
import { toWorkspaceMemberDto } from './dto/workspace-member.dto.js';
import type { AddMembersDto, RemoveMembersDto } from './dto/workspace-member.dto.js';
import { WorkspacesService } from './workspaces.service.js';

const AUDITED_MEMBER: AuditedType<WorkspaceMember> = {
  objectType: 'workspace_member',
  objectId: ({ userId }) => userId,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toWorkspaceMemberDto,
};

@Injectable()
export class WorkspaceMembersService {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly members: WorkspaceMembersRepository,
    private readonly config: AppConfig,
    private readonly rateLimiter: RateLimiter,
  ) {}

  async list(manager: Manager, ref: string, page: PageRequest): Promise<Page<WorkspaceMember>> {
    const { id } = await this.workspaces.get(manager, ref);
    return this.members.list(id, page);
  }

  async add(
    actor: Actor,
    ref: string,
    { user_ids: userIds, role }: AddMembersDto,
  ): Promise<readonly WorkspaceMember[]> {
    rejectOwnRole(actor, userIds);
    const workspace = await this.workspaces.get(actor, ref);
    const limit = this.config.quotas.membersPerWorkspace;
    const describe = describeChange(actor, AUDITED_MEMBER);
    const distinct = await this.countChanges(workspace.accountId, userIds);
    return this.members.add(workspace, distinct, { role, limit }, describe);
  }

  async remove(actor: Actor, ref: string, { user_ids: userIds }: RemoveMembersDto): Promise<number> {
    rejectOwnRole(actor, userIds);
    const workspace = await this.workspaces.get(actor, ref);
    const distinct = await this.countChanges(workspace.accountId, userIds);
    return this.members.remove(workspace, distinct, describeChange(actor, AUDITED_MEMBER));
  }

  /** Each member is a change with its own entry in the audit log. Returns the distinct ids. */
  private async countChanges(accountId: string, userIds: readonly string[]): Promise<readonly string[]> {
    const distinct = [...new Set(userIds)];
    await this.rateLimiter.consumeFurtherChanges(accountId, distinct.length - 1);
    return distinct;
  }
}

/** A person who may change members has the highest role of the workspace, and may grant each of them to others. */
function rejectOwnRole({ person }: Actor, userIds: readonly string[]): void {
  if (person !== null && userIds.includes(person.id))
    throw new AppError('role_refused', { detail: 'user_ids: people do not change their own role' });
}
