// The routes of people, their groups and their identity providers.
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import { MAX_GROUP_MAPPINGS } from '../domain/people/group-roles.js';
import type { Manager } from '../domain/people/manager.js';
import { EmptyQueryDto, PageQueryDto } from '../http/dto/page-query.dto.js';
import { dataOf, DeletedDto, listOf, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { CreateGroupMappingDto, GroupMappingDto, toGroupMappingDto } from './dto/group-mapping.dto.js';
import {
  OrganizationMemberDto,
  toOrganizationMemberDto,
  UpdateOrganizationMemberDto,
} from './dto/person.dto.js';
import { SignInProviderDto, toSignInProviderDto } from './dto/sign-in-provider.dto.js';
import { GroupMappingsService } from './group-mappings.service.js';
import { PeopleService } from './people.service.js';
import { SignInProviders } from './sign-in-providers.js';

@ApiTags('People')
@ApiBearerAuth()
@Controller()
export class PeopleController {
  constructor(
    private readonly people: PeopleService,
    private readonly mappings: GroupMappingsService,
    private readonly providers: SignInProviders,
  ) {}

  @Get('organization/members')
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('people.read')
  @Operation({
    id: 'listOrganizationMembers',
    summary: 'List people',
    description: 'The people who have signed in to the account by an identity provider.',
    answer: pageOf(OrganizationMemberDto, {
      description: 'Those who wait for a role first, then the newest.',
    }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() page: PageQueryDto,
  ): Promise<Page<OrganizationMemberDto>> {
    const { items, total } = await this.people.list(manager, page);
    return { data: items.map(toOrganizationMemberDto), total_count: total };
  }

  @Patch('organization/members/:id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('people.change')
  @Operation({
    id: 'updateOrganizationMember',
    summary: 'Change a person',
    description:
      'Gives a role for the whole account, or disables the person. People give roles up to their own, and never change ' +
      'themselves. Roles are in force within two seconds.',
    answer: dataOf(OrganizationMemberDto),
  })
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateOrganizationMemberDto,
  ): Promise<Data<OrganizationMemberDto>> {
    return { data: toOrganizationMemberDto(await this.people.update(actor, id, body)) };
  }

  @Get('group-mappings')
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('people.read')
  @Operation({
    id: 'listGroupMappings',
    summary: 'List group mappings',
    description: 'The roles that people get by groups of their identity provider, at each sign-in.',
    answer: pageOf(GroupMappingDto, { description: 'The oldest first.' }),
  })
  async listMappings(
    @CurrentManager() manager: Manager,
    @Query() page: PageQueryDto,
  ): Promise<Page<GroupMappingDto>> {
    const { items, total } = await this.mappings.list(manager, page);
    return { data: items.map(toGroupMappingDto), total_count: total };
  }

  @Post('group-mappings')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('people.change')
  @Operation({
    id: 'createGroupMapping',
    summary: 'Create a group mapping',
    description:
      "In force at the next sign-in of the group's people. Of several groups the highest role counts. " +
      `Responds 409 when the group has a role there already, and beyond ${MAX_GROUP_MAPPINGS} mappings of the account.`,
    status: 201,
    answer: dataOf(GroupMappingDto),
    errors: [409],
  })
  async createMapping(
    @CurrentActor() actor: Actor,
    @Body() body: CreateGroupMappingDto,
  ): Promise<Data<GroupMappingDto>> {
    return { data: toGroupMappingDto(await this.mappings.create(actor, body)) };
  }

  @Delete('group-mappings/:id')
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('people.change')
  @Operation({
    id: 'deleteGroupMapping',
    summary: 'Delete a group mapping',
    description: "The group's people lose the role at their next sign-in.",
    answer: DeletedDto,
  })
  async deleteMapping(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.mappings.delete(actor, id);
    return { deleted: true };
  }

  @Get('sign-in/providers')
  @ManagementOnly()
  @NeedsRight('people.read')
  @Operation({
    id: 'listSignInProviders',
    summary: 'List identity providers',
    description:
      'The identity providers that sign people in to the account. The operator configures them; secrets are not shown.',
    answer: listOf(SignInProviderDto, { description: 'In the order of the configuration.' }),
  })
  async listProviders(
    @CurrentManager() { accountId, person }: Manager,
    @Query() _query: EmptyQueryDto,
  ): Promise<Data<SignInProviderDto[]>> {
    const issuers = await this.providers.ofAccount(accountId);
    const claimNamesFor = (issuer: string): readonly string[] | null =>
      person?.issuer === issuer ? person.claimNames : null;
    return {
      data: issuers.map((issuer) => toSignInProviderDto(issuer, claimNamesFor(issuer.config.issuer))),
    };
  }
}
