// Rows of guardrails and of their assignments.
import type { BuiltinFilter, ContentFilter } from '../../domain/guardrails/content-filter.js';
import type {
  Guardrail,
  GuardrailAssignment,
  GuardrailOwner,
  GuardrailRules,
  GuardrailSettings,
} from '../../domain/guardrails/guardrail.js';
import { formatUsd } from '../../domain/spend/money.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import { DATA_REGIONS } from '../../domain/guardrails/guardrail.js';
import type { GuardrailAssignmentModel, GuardrailModel } from '../generated/models.js';
import { toUsd } from '../spend/spend-row.js';

type SettingColumns = Omit<
  GuardrailModel,
  | 'workspaceId'
  | 'id'
  | 'accountId'
  | 'isDefault'
  | 'createdAt'
  | 'updatedAt'
  | 'limit'
  | 'contentFilters'
  | 'builtinFilters'
> & {
  readonly limit: string | null;
  readonly contentFilters: object[];
  readonly builtinFilters: object[];
};

export function toSettingColumns(settings: GuardrailSettings): SettingColumns {
  const { enforceZdr } = settings;
  const listed = (names: readonly string[] | null): string[] => [...(names ?? [])];
  return {
    name: settings.name,
    description: settings.description,
    allowedModels: listed(settings.allowedModels),
    ignoredModels: listed(settings.ignoredModels),
    allowedProviders: listed(settings.allowedProviders),
    ignoredProviders: listed(settings.ignoredProviders),
    enforceZdrAnthropic: enforceZdr.anthropic,
    enforceZdrOpenai: enforceZdr.openai,
    enforceZdrGoogle: enforceZdr.google,
    enforceZdrXai: enforceZdr.xai,
    enforceZdrOther: enforceZdr.other,
    enablePaidModelTraining: settings.enablePaidModelTraining,
    enableFreeModelTraining: settings.enableFreeModelTraining,
    enableFreeModelPublication: settings.enableFreeModelPublication,
    allowedDataRegions: listed(settings.allowedDataRegions),
    includeByokInBudgets: settings.includeByokInBudgets,
    limit: settings.limit === null ? null : formatUsd(settings.limit),
    limitReset: settings.limitReset,
    contentFilters: settings.contentFilters.map((filter) => ({ ...filter })),
    builtinFilters: settings.builtinFilters.map((filter) => ({ ...filter })),
    rejectUnscannable: settings.rejectUnscannable,
  };
}

export function toGuardrail(row: GuardrailModel): Guardrail {
  const names = (list: readonly string[]) => (list.length === 0 ? null : list);
  const regions: GuardrailRules['allowedDataRegions'] = DATA_REGIONS.filter((region) =>
    row.allowedDataRegions.includes(region),
  );
  return {
    id: row.id,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    isDefault: row.isDefault,
    name: row.name,
    description: row.description,
    allowedModels: names(row.allowedModels),
    ignoredModels: names(row.ignoredModels),
    allowedProviders: names(row.allowedProviders),
    ignoredProviders: names(row.ignoredProviders),
    enforceZdr: {
      anthropic: row.enforceZdrAnthropic,
      openai: row.enforceZdrOpenai,
      google: row.enforceZdrGoogle,
      xai: row.enforceZdrXai,
      other: row.enforceZdrOther,
    },
    enablePaidModelTraining: row.enablePaidModelTraining,
    enableFreeModelTraining: row.enableFreeModelTraining,
    enableFreeModelPublication: row.enableFreeModelPublication,
    // A region of a later version allows this one nothing.
    allowedDataRegions: row.allowedDataRegions.length === 0 ? null : regions,
    includeByokInBudgets: row.includeByokInBudgets,
    limit: row.limit === null ? null : toUsd(row.limit),
    limitReset: LIMIT_RESETS.find((reset) => reset === row.limitReset) ?? null,
    contentFilters: row.contentFilters as unknown as readonly ContentFilter[],
    builtinFilters: row.builtinFilters as unknown as readonly BuiltinFilter[],
    rejectUnscannable: row.rejectUnscannable,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export interface AssignmentRow extends GuardrailAssignmentModel {
  readonly apiKey: { readonly hash: string; readonly name: string; readonly label: string } | null;
}

export function toAssignment(
  { id, guardrailId, assignedBy, createdAt, apiKey, userId }: AssignmentRow,
  { accountId, workspaceId }: GuardrailOwner,
): GuardrailAssignment {
  const assignment = { id, guardrailId, assignedBy, createdAt, accountId, workspaceId };
  if (apiKey === null) return { ...assignment, subject: 'member', userId: userId ?? '' };
  const { hash, name, label } = apiKey;
  return { ...assignment, subject: 'api_key', hash, name, label };
}
