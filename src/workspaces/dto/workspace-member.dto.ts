// Members of a workspace on the wire. Source: contract section 6.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Matches } from 'class-validator';
import { MEMBER_ROLES } from '../../domain/workspace.js';
import type { MemberRole, WorkspaceMember } from '../../domain/workspace.js';
import { IfGiven } from '../../http/fields/optional-members.js';

const MAX_USERS = 100;

export class WorkspaceMemberDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ example: 'user_2dHFtVWx2n56w6HkM0000000000' })
  user_id: string;

  @ApiProperty({ enum: MEMBER_ROLES })
  role: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export class WorkspaceMemberListDto {
  @ApiProperty({ type: [WorkspaceMemberDto] })
  data: WorkspaceMemberDto[];

  @ApiProperty({ type: 'integer', description: 'Of the whole list.' })
  total_count: number;
}

export class MembersAddedDto {
  @ApiProperty({ type: 'integer' })
  added_count: number;

  @ApiProperty({ type: [WorkspaceMemberDto], description: 'Those that were added.' })
  data: WorkspaceMemberDto[];
}

export class MembersRemovedDto {
  @ApiProperty({ type: 'integer' })
  removed_count: number;
}

const UserIds = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: [String], minItems: 1, maxItems: MAX_USERS, example: ['user_abc123'] }),
    IsArray({ message: 'must be an array' }),
    ArrayMinSize(1, { message: 'must have at least 1 element' }),
    ArrayMaxSize(MAX_USERS, { message: `must have at most ${MAX_USERS} elements` }),
    IsString({ each: true, message: 'must hold strings' }),
    Matches(/^[\x21-\x7e]{1,256}$/, {
      each: true,
      message: 'must hold names of 1 to 256 printable ASCII characters without spaces',
    }),
  );

export class AddMembersDto {
  @UserIds()
  user_ids: string[];

  @ApiPropertyOptional({
    enum: MEMBER_ROLES,
    default: 'member',
    description: 'Of those that are added. Whoever is a member already stays as they are.',
  })
  @IfGiven()
  @IsIn(MEMBER_ROLES, { message: `must be one of ${MEMBER_ROLES.join(', ')}` })
  role: MemberRole = 'member';
}

export class RemoveMembersDto {
  @UserIds()
  user_ids: string[];
}

export function toWorkspaceMemberDto(member: WorkspaceMember): WorkspaceMemberDto {
  return {
    id: member.id,
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role,
    created_at: member.createdAt.toISOString(),
  };
}
