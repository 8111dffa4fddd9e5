// The operations of guardrails, beyond the shape of their bodies.
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { NEW_GUARDRAIL, noSuchGuardrail, ZDR_VENDORS } from '../domain/guardrails/guardrail.js';
import type { Guardrail, GuardrailSettings, ZdrVendor } from '../domain/guardrails/guardrail.js';
import type { GuardrailUsage } from '../domain/guardrails/guardrail-hit.js';
import type { Manager } from '../domain/people/manager.js';
import { requireRight } from '../domain/people/rights.js';
import { rejectMember } from '../domain/errors.js';
import { parseUsd } from '../domain/spend/money.js';
import type { Page } from '../domain/page.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { GuardrailUsageRepository } from '../persistence/guardrails/guardrail-usage.repository.js';
import { GuardrailsRepository } from '../persistence/guardrails/guardrails.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { GuardrailNames } from '../routing/guardrails/guardrail-names.js';
import type {
  CreateGuardrailDto,
  GuardrailsQueryDto,
  UpdateGuardrailDto,
} from './dto/guardrail-bodies.dto.js';
import { fromBuiltinFilterDtos, fromContentFilterDtos } from './dto/content-filter.dto.js';
import { toGuardrailDto } from './dto/guardrail.dto.js';

const AUDITED_GUARDRAIL: AuditedType<Guardrail> = {
  objectType: 'guardrail',
  objectId: ({ id }) => id,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toGuardrailDto,
};
const DEFAULT_NAME = 'Workspace default';

@Injectable()
export class GuardrailsService {
  constructor(
    private readonly guardrails: GuardrailsRepository,
    private readonly accounts: AccountsRepository,
    private readonly names: GuardrailNames,
    private readonly usages: GuardrailUsageRepository,
  ) {}

  async create(actor: Actor, { name, workspace_id: wanted, ...dto }: CreateGuardrailDto): Promise<Guardrail> {
    const { accountId } = actor;
    const workspaceId = await this.accounts.chooseWorkspace(actor, wanted);
    const settings = this.changed({ ...NEW_GUARDRAIL, name }, dto);
    return this.guardrails.create(
      { accountId, workspaceId },
      settings,
      describeChange(actor, AUDITED_GUARDRAIL),
    );
  }

  async list(
    manager: Manager,
    { workspace_id: wanted, ...page }: GuardrailsQueryDto,
  ): Promise<Page<Guardrail>> {
    return this.guardrails.list(manager, await this.accounts.chooseWorkspace(manager, wanted), page);
  }

  /** Throws `invalid_request` for a workspace that is not within reach. */
  async usage(manager: Manager, wanted: string | undefined): Promise<readonly GuardrailUsage[]> {
    return this.usages.ofWorkspace(await this.accounts.chooseWorkspace(manager, wanted));
  }

  /** A guardrail that is not within reach answers like one that does not exist. */
  async get(manager: Manager, id: string): Promise<Guardrail> {
    const found = isUUID(id) ? await this.guardrails.find(manager, id.toLowerCase()) : null;
    if (!found) throw noSuchGuardrail();
    return found;
  }

  async update(actor: Actor, id: string, dto: UpdateGuardrailDto): Promise<Guardrail> {
    if (!isUUID(id)) throw noSuchGuardrail();
    const change = (before: Guardrail): GuardrailSettings => {
      if (before.isDefault) requireRight(actor, 'default_guardrail.change', before.workspaceId);
      rejectFixedChanges(dto, toGuardrailDto(before));
      const after = this.changed(before, dto);
      if (before.isDefault && after.limit !== null)
        rejectMember('limit_usd', 'is for guardrails of keys and members; a workspace has budgets');
      return after;
    };
    const initial = { ...NEW_GUARDRAIL, name: DEFAULT_NAME };
    const describe = describeChange(actor, AUDITED_GUARDRAIL);
    const changed = await this.guardrails.change(actor, id.toLowerCase(), change, initial, describe);
    if (!changed) throw noSuchGuardrail();
    return changed;
  }

  async delete(actor: Actor, id: string): Promise<void> {
    const { isDefault, workspaceId, id: found } = await this.get(actor, id);
    if (isDefault) requireRight(actor, 'default_guardrail.change', workspaceId);
    const describe = describeChange(actor, AUDITED_GUARDRAIL);
    if (!(await this.guardrails.delete(actor.accountId, found, describe))) throw noSuchGuardrail();
  }

  /** Omitted members keep their value. */
  private changed(
    before: GuardrailSettings,
    dto: Omit<UpdateGuardrailDto, 'workspace_id'>,
  ): GuardrailSettings {
    const { names } = this;
    const models = listsOf((sent, member, known) => names.models(sent, member, known));
    const endpoints = listsOf((sent, member, known) => names.endpoints(sent, member, known));
    return {
      ...limitAfter(before, dto),
      name: dto.name ?? before.name,
      description: given(dto.description, before.description),
      allowedModels: models(dto.allowed_models, 'allowed_models', before.allowedModels),
      ignoredModels: models(dto.ignored_models, 'ignored_models', before.ignoredModels),
      allowedProviders: endpoints(dto.allowed_providers, 'allowed_providers', before.allowedProviders),
      ignoredProviders: endpoints(dto.ignored_providers, 'ignored_providers', before.ignoredProviders),
      enforceZdr: zdrAfter(before.enforceZdr, dto),
      enablePaidModelTraining: given(dto.enable_paid_model_training, before.enablePaidModelTraining),
      enableFreeModelTraining: given(dto.enable_free_model_training, before.enableFreeModelTraining),
      enableFreeModelPublication: given(dto.enable_free_model_publication, before.enableFreeModelPublication),
      allowedDataRegions: given(dto.allowed_data_regions, before.allowedDataRegions),
      includeByokInBudgets: dto.include_byok_in_budgets ?? before.includeByokInBudgets,
      contentFilters:
        dto.content_filters === undefined
          ? before.contentFilters
          : fromContentFilterDtos(dto.content_filters ?? []),
      builtinFilters:
        dto.content_filter_builtins === undefined
          ? before.builtinFilters
          : fromBuiltinFilterDtos(dto.content_filter_builtins ?? []),
      rejectUnscannable: dto.reject_unscannable ?? before.rejectUnscannable,
    };
  }
}

/** Throws `invalid_request` for a limit without an interval, and for an interval without a limit. */
function limitAfter(
  before: GuardrailSettings,
  { limit_usd: usd, reset_interval: reset }: Pick<UpdateGuardrailDto, 'limit_usd' | 'reset_interval'>,
): Pick<GuardrailSettings, 'limit' | 'limitReset'> {
  const limit = usd === undefined ? before.limit : usd === null ? null : parseUsd(usd);
  const limitReset = given(reset, before.limitReset);
  if (limit !== null && limitReset === null) rejectMember('reset_interval', 'is required with limit_usd');
  if (limit === null && limitReset !== null) rejectMember('limit_usd', 'is required with reset_interval');
  return { limit, limitReset };
}

/** Null is a value of its own. */
function given<Value>(sent: Value | null | undefined, before: Value | null): Value | null {
  return sent === undefined ? before : sent;
}

type Resolve = (sent: readonly string[], member: string, known: readonly string[]) => readonly string[];

/** A list is replaced as a whole; an empty one is no rule. */
function listsOf(resolve: Resolve) {
  return (
    sent: readonly string[] | null | undefined,
    member: string,
    before: readonly string[] | null,
  ): readonly string[] | null => {
    if (sent === undefined) return before;
    return sent === null || sent.length === 0 ? null : resolve(sent, member, before ?? []);
  };
}

/** The deprecated member stands for those that the body omits. */
function zdrAfter(
  before: GuardrailSettings['enforceZdr'],
  dto: Pick<UpdateGuardrailDto, `enforce_zdr_${ZdrVendor}` | 'enforce_zdr'>,
): GuardrailSettings['enforceZdr'] {
  const after = ZDR_VENDORS.map((vendor): [ZdrVendor, boolean | null] => {
    const sent = dto[`enforce_zdr_${vendor}`];
    return [vendor, given(sent === undefined ? dto.enforce_zdr : sent, before[vendor])];
  });
  return Object.fromEntries(after) as Record<ZdrVendor, boolean | null>;
}
