// Roles of people by groups of their identity provider.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError, rejectMember } from '../domain/errors.js';
import type { Page, PageRequest } from '../domain/page.js';
import { toNewGroupMapping } from '../domain/people/group-roles.js';
import type { GroupMapping, NewGroupMapping } from '../domain/people/group-roles.js';
import type { Manager } from '../domain/people/manager.js';
import { GroupMappingsRepository } from '../persistence/people/group-mappings.repository.js';
import { toGroupMappingDto } from './dto/group-mapping.dto.js';
import type { CreateGroupMappingDto } from './dto/group-mapping.dto.js';
import { rejectAboveOwnRole, rejectRole } from './people.service.js';
import { SignInProviders } from './sign-in-providers.js';

const AUDITED_MAPPING: AuditedType<GroupMapping> = {
  objectType: 'group_mapping',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toGroupMappingDto,
};

@Injectable()
export class GroupMappingsService {
  constructor(
    private readonly mappings: GroupMappingsRepository,
    private readonly providers: SignInProviders,
  ) {}

  async list({ accountId }: Manager, page: PageRequest): Promise<Page<GroupMapping>> {
    return this.mappings.list(accountId, page);
  }

  /** In force at the next sign-in of the group's people. */
  async create(actor: Actor, dto: CreateGroupMappingDto): Promise<GroupMapping> {
    const { issuer, group, role } = dto;
    const workspaceId = dto.workspace_id?.toLowerCase() ?? null;
    const mapping = toNewGroupMapping({ issuer, group, workspaceId, role }) ?? rejectRole();
    rejectAbove(actor, mapping);
    await this.rejectUnknown(issuer, actor.accountId);
    return this.mappings.create(actor.accountId, mapping, describeChange(actor, AUDITED_MAPPING));
  }

  /** Mappings may be made before a provider is configured. */
  private async rejectUnknown(issuer: string, accountId: string): Promise<void> {
    const issuers = (await this.providers.ofAccount(accountId)).map(({ config }) => config.issuer);
    if (issuers.length > 0 && !issuers.includes(issuer))
      rejectMember('issuer', 'must be the issuer of a configured provider, exactly');
  }

  /** The people of the group keep their role until their next sign-in. */
  async delete(actor: Actor, id: string): Promise<void> {
    const check = (found: GroupMapping): void => rejectAbove(actor, found);
    const describe = describeChange(actor, AUDITED_MAPPING);
    const isDeleted =
      isUUID(id) && (await this.mappings.delete(actor.accountId, id.toLowerCase(), check, describe));
    if (!isDeleted) throw new AppError('not_found', { detail: 'no group mapping has this id' });
  }
}

function rejectAbove({ person }: Actor, mapping: NewGroupMapping): void {
  if (person !== null && mapping.workspaceId === null) rejectAboveOwnRole(person, [mapping.role]);
}
