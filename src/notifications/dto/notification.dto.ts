// Notifications on the wire: an extension. Contract: docs/contract.md#notifications.
import { IsInt, Max, Min } from 'class-validator';
import { maskConfig } from '../../destination-kinds/shared/destination-kind.js';
import {
  NOTIFICATION_WEBHOOK,
  NotificationWebhookConfig,
} from '../../deliveries/notifications/notification-webhook.js';
import {
  DEFAULT_THRESHOLDS,
  MAX_THRESHOLDS,
  NOTIFICATION_COVERS,
} from '../../domain/notifications/notification-rule.js';
import type { NotificationCover, NotificationRule } from '../../domain/notifications/notification-rule.js';
import { configClassOf } from '../../http/configs/config-class.js';
import { FreeObjectField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import type { FieldOptions } from '../../http/fields/field.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import { FlagField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';

configClassOf(NOTIFICATION_WEBHOOK);

const NameField = (options: FieldOptions = {}): PropertyDecorator =>
  TextField({ ...options, hiddenMaxLength: 1_000, example: 'Budget alerts' });

const CoversField = (options: FieldOptions): PropertyDecorator =>
  ListField(String, {
    ...options,
    values: NOTIFICATION_COVERS,
    minItems: 1,
    unique: true,
    minItemsMessage: 'must have at least 1 element',
  });

const ThresholdsField = (options: FieldOptions): PropertyDecorator =>
  ListField(Number, {
    ...options,
    minItems: 1,
    maxItems: MAX_THRESHOLDS,
    unique: true,
    rules: [
      Max(100, { each: true, message: 'must hold whole numbers from 1 to 100' }),
      Min(1, { each: true, message: 'must hold whole numbers from 1 to 100' }),
      IsInt({ each: true, message: 'must hold whole numbers from 1 to 100' }),
    ],
    description: 'Percentages of a limit, from 1 to 100.',
    example: [...DEFAULT_THRESHOLDS],
  });

export class NotificationDto {
  @UuidField() id: string;
  @UuidField({ nullable: true, description: 'Null: all workspaces of the account.' })
  workspace_id: string | null;
  @TextField() name: string;
  @FlagField() enabled: boolean;
  @ListField(String, { values: NOTIFICATION_COVERS }) covers: readonly string[];
  @ListField(Number, { description: 'Percentages, ascending.' }) thresholds: readonly number[];
  @ObjectField(NotificationWebhookConfig, { description: 'Secret values are abbreviated.' }) config: object;
  @TimeField() created_at: string;
  @TimeField() updated_at: string;
}

export class NotificationsQueryDto extends PageQueryDto {
  @UuidField({
    optional: true,
    description: 'Only notifications of this workspace. Default: all of the account.',
  })
  workspace_id?: string;
}

@TakesRecord(NotificationDto)
export class CreateNotificationDto {
  @NameField()
  name: string;

  @ObjectField(NotificationWebhookConfig, { description: 'The receiver of the events.' })
  config: NotificationWebhookConfig;

  @UuidField({
    optional: true,
    nullable: true,
    description: 'Only this workspace. Null, the default: all workspaces of the account.',
  })
  workspace_id?: string | null;

  @CoversField({
    optional: true,
    description: 'Default: everything; `credits` only without `workspace_id`.',
  })
  covers?: NotificationCover[];

  @ThresholdsField({ default: [...DEFAULT_THRESHOLDS] })
  thresholds: number[] = [...DEFAULT_THRESHOLDS];

  @FlagField({ default: true })
  enabled = true;
}

@TakesRecord(NotificationDto)
export class UpdateNotificationDto {
  @NameField({ optional: true })
  name?: string;

  @FreeObjectField({
    optional: true,
    description:
      'Members of the receiver. Omitted members keep their value. An abbreviated value as the record shows it keeps the ' +
      'stored value; any other abbreviation is rejected. `headers` are replaced as a whole.',
    example: { url: 'https://example.com/alerts' },
  })
  config?: Readonly<Record<string, unknown>>;

  @CoversField({ optional: true })
  covers?: NotificationCover[];

  @ThresholdsField({ optional: true })
  thresholds?: number[];

  @FlagField({ optional: true })
  enabled?: boolean;

  @FixedField({ nullable: true }) workspace_id?: string | null;
}

export function toNotificationDto(rule: NotificationRule): NotificationDto {
  return {
    id: rule.id,
    workspace_id: rule.workspaceId,
    name: rule.name,
    enabled: rule.enabled,
    covers: rule.covers,
    thresholds: rule.thresholds,
    config: maskConfig(NOTIFICATION_WEBHOOK, rule.config),
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}
