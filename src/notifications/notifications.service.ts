// The operations of notifications, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { NOTIFICATION_WEBHOOK } from '../deliveries/notifications/notification-webhook.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import { reachesWorkspace } from '../domain/people/manager.js';
import type { Manager } from '../domain/people/manager.js';
import { requireRight } from '../domain/people/rights.js';
import { omitUndefined } from '../domain/members.js';
import { NOTIFICATION_COVERS, WORKSPACE_COVERS } from '../domain/notifications/notification-rule.js';
import type { NotificationCover, NotificationRule } from '../domain/notifications/notification-rule.js';
import type { Page } from '../domain/page.js';
import { changedConfig, newConfig } from '../http/configs/checked-config.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { UrlGuard } from '../outbound/connections/url-guard.js';
import { NotificationRulesRepository } from '../persistence/notifications/notification-rules.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { toNotificationDto } from './dto/notification.dto.js';
import type {
  CreateNotificationDto,
  NotificationsQueryDto,
  UpdateNotificationDto,
} from './dto/notification.dto.js';

const AUDITED_NOTIFICATION: AuditedType<NotificationRule> = {
  objectType: 'notification',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toNotificationDto,
};

@Injectable()
export class NotificationsService {
  constructor(
    private readonly rules: NotificationRulesRepository,
    private readonly accounts: AccountsRepository,
    private readonly urlGuard: UrlGuard,
  ) {}

  async create(actor: Actor, dto: CreateNotificationDto): Promise<NotificationRule> {
    const { workspace_id: wanted = null } = dto;
    if (wanted === null) requireRight(actor, 'notifications.change', null);
    const workspaceId = wanted === null ? null : await this.accounts.chooseWorkspace(actor, wanted);
    const covers = dto.covers ?? (workspaceId === null ? NOTIFICATION_COVERS : WORKSPACE_COVERS);
    rejectCredits(covers, workspaceId);
    const config = await newConfig(this.urlGuard, NOTIFICATION_WEBHOOK, dto.config, actor.accountId);
    return this.rules.create(
      {
        accountId: actor.accountId,
        workspaceId,
        name: dto.name,
        enabled: dto.enabled,
        covers,
        thresholds: ascending(dto.thresholds),
        config,
      },
      describeChange(actor, AUDITED_NOTIFICATION),
    );
  }

  async list(manager: Manager, query: NotificationsQueryDto): Promise<Page<NotificationRule>> {
    const workspaceId =
      query.workspace_id && (await this.accounts.chooseWorkspace(manager, query.workspace_id));
    return this.rules.list(manager, workspaceId, query);
  }

  /** A notification that is not within reach answers like one that does not exist. */
  async get({ accountId, reach }: Manager, id: string): Promise<NotificationRule> {
    const rule = isUUID(id) ? await this.rules.find(accountId, id) : null;
    if (!rule) return rejectUnknown();
    const isReached =
      rule.workspaceId === null ? reach.workspaceIds === null : reachesWorkspace(reach, rule.workspaceId);
    return isReached ? rule : rejectUnknown();
  }

  async update(actor: Actor, id: string, dto: UpdateNotificationDto): Promise<NotificationRule> {
    const before = await this.get(actor, id);
    rejectFixedChanges(dto, toNotificationDto(before));
    if (dto.covers) rejectCredits(dto.covers, before.workspaceId);
    const change = omitUndefined({
      name: dto.name,
      enabled: dto.enabled,
      covers: dto.covers,
      thresholds: dto.thresholds && ascending(dto.thresholds),
      config: dto.config && (await changedConfig(this.urlGuard, NOTIFICATION_WEBHOOK, before, dto.config)),
    });
    if (Object.keys(change).length === 0) return before;
    const after = await this.rules.update(before, change, describeChange(actor, AUDITED_NOTIFICATION));
    if (after) return after;
    throw new AppError('conflict', {
      detail: 'the notification was changed by another request; read it again and retry',
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.get(actor, id);
    const describe = describeChange(actor, AUDITED_NOTIFICATION);
    if (!(await this.rules.delete(actor.accountId, id, describe))) rejectUnknown();
  }
}

function ascending(thresholds: readonly number[]): readonly number[] {
  return thresholds.toSorted((one, other) => one - other);
}

function rejectCredits(covers: readonly NotificationCover[], workspaceId: string | null): void {
  if (workspaceId === null || !covers.includes('credits')) return;
  throw new AppError('invalid_request', {
    detail: 'covers: credits belong to the account; omit workspace_id to watch them',
  });
}

function rejectUnknown(): never {
  throw new AppError('not_found', { detail: 'no such notification' });
}
