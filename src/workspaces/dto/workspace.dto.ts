// A workspace on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import type { Workspace } from '../../domain/workspace.js';

/** What this service has not: the record says so, and a body may only repeat it. */
export const ABSENT_SETTINGS = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  is_observability_io_logging_enabled: false,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
  is_data_discount_logging_enabled: false,
  disabled_server_tools: null,
} as const;

const ALWAYS_NULL = 'Always null: there is nothing of the kind here.';

export class WorkspaceDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ example: 'Production' })
  name: string;

  @ApiProperty({ example: 'production' })
  slug: string;

  @ApiProperty({ type: String, nullable: true })
  description: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null until the first change.',
  })
  updated_at: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The creator_user_id of the key that made it.' })
  created_by: string | null;

  @ApiProperty({
    description: 'The switch of all destinations of the workspace: false, and nothing is forwarded.',
  })
  is_observability_broadcast_enabled: boolean;

  @ApiProperty({ description: 'Whether calls through own provider keys count toward the budgets.' })
  include_byok_in_budgets: boolean;

  @ApiProperty({ type: String, nullable: true, description: ALWAYS_NULL })
  default_text_model: string | null;

  @ApiProperty({ type: String, nullable: true, description: ALWAYS_NULL })
  default_image_model: string | null;

  @ApiProperty({ type: String, nullable: true, description: ALWAYS_NULL })
  default_provider_sort: string | null;

  @ApiProperty({ description: 'Always empty: there are no guardrails here.' })
  default_guardrail_id: string;

  @ApiProperty({ description: 'Always false: inputs and outputs are not logged.' })
  is_observability_io_logging_enabled: boolean;

  @ApiProperty({ description: 'Always 1, and without effect: inputs and outputs are not logged.' })
  io_logging_sampling_rate: number;

  @ApiProperty({ type: [Number], nullable: true, description: ALWAYS_NULL })
  io_logging_api_key_ids: number[] | null;

  @ApiProperty({ description: 'Always false.' })
  is_data_discount_logging_enabled: boolean;

  @ApiProperty({ type: [String], nullable: true, description: ALWAYS_NULL })
  disabled_server_tools: string[] | null;
}

export class WorkspaceResponseDto {
  @ApiProperty()
  data: WorkspaceDto;
}

export class WorkspaceListDto {
  @ApiProperty({ type: [WorkspaceDto] })
  data: WorkspaceDto[];

  @ApiProperty({ type: 'integer', description: 'Of the whole list.' })
  total_count: number;
}

export function toWorkspaceDto(workspace: Workspace): WorkspaceDto {
  return {
    ...ABSENT_SETTINGS,
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    created_at: workspace.createdAt.toISOString(),
    updated_at: workspace.updatedAt?.toISOString() ?? null,
    created_by: workspace.createdBy,
    is_observability_broadcast_enabled: workspace.isBroadcastEnabled,
    include_byok_in_budgets: workspace.includeByokInBudgets,
    default_guardrail_id: '',
  };
}
