// Guardrails: which models, providers and data policies calls may use, and how much they may cost (docs/contract.md#guardrails).
import { AppError } from '../errors.js';
import type { PicoUsd } from '../spend/money.js';
import type { LimitReset } from '../spend/spend.js';
import type { BuiltinFilter, ContentFilter } from './content-filter.js';
import type { GuardrailScope } from './guardrail-hit.js';
import { uuidV5 } from '../identifiers.js';

export const MAX_GUARDRAILS_PER_WORKSPACE = 100;
/** Names in one list of a guardrail. */
export const MAX_GUARDRAIL_NAMES = 500;

export const DATA_REGIONS = ['global', 'europe', 'us'] as const;
export type DataRegion = (typeof DATA_REGIONS)[number];

/** Vendors of models whose data retention has a rule of its own; `other` has the rest. */
export const ZDR_VENDORS = ['anthropic', 'openai', 'google', 'xai', 'other'] as const;
export type ZdrVendor = (typeof ZDR_VENDORS)[number];

/** Each member narrows what calls may use. Null: no rule. */
export interface GuardrailRules {
  /** Canonical slugs. An empty list allows none. */
  readonly allowedModels: readonly string[] | null;
  readonly ignoredModels: readonly string[] | null;
  /** Slugs of providers, and tags of endpoints. An empty list allows none. */
  readonly allowedProviders: readonly string[] | null;
  readonly ignoredProviders: readonly string[] | null;
  /** True: endpoints must retain nothing. */
  readonly enforceZdr: Readonly<Record<ZdrVendor, boolean | null>>;
  /** False: no endpoint with a price that trains on prompts. */
  readonly enablePaidModelTraining: boolean | null;
  /** False: no endpoint without a price that trains on prompts. */
  readonly enableFreeModelTraining: boolean | null;
  readonly allowedDataRegions: readonly DataRegion[] | null;
}

/** For each key that has the guardrail, and for all keys of each member together. */
export interface GuardrailLimit {
  /** Null: no limit. */
  readonly limit: PicoUsd | null;
  /** Null without a limit. */
  readonly limitReset: LimitReset | null;
  readonly includeByokInBudgets: boolean;
}

/** Filters of the texts of calls. */
export interface GuardrailContent {
  readonly contentFilters: readonly ContentFilter[];
  readonly builtinFilters: readonly BuiltinFilter[];
  /** Refuses calls with parts that patterns cannot read. */
  readonly rejectUnscannable: boolean;
}

export interface GuardrailSettings extends GuardrailRules, GuardrailLimit, GuardrailContent {
  readonly name: string;
  readonly description: string | null;
  /** Kept without an effect: no endpoint of the catalogue publishes prompts. */
  readonly enableFreeModelPublication: boolean | null;
}

export interface GuardrailOwner {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface Guardrail extends GuardrailSettings, GuardrailOwner {
  readonly id: string;
  /** It governs all keys of its workspace, and is never assigned. */
  readonly isDefault: boolean;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
}

export const NO_RULES: GuardrailRules = {
  allowedModels: null,
  ignoredModels: null,
  allowedProviders: null,
  ignoredProviders: null,
  enforceZdr: { anthropic: null, openai: null, google: null, xai: null, other: null },
  enablePaidModelTraining: null,
  enableFreeModelTraining: null,
  allowedDataRegions: null,
};

export const NEW_GUARDRAIL: Omit<GuardrailSettings, 'name'> = {
  ...NO_RULES,
  description: null,
  enableFreeModelPublication: null,
  limit: null,
  limitReset: null,
  contentFilters: [],
  builtinFilters: [],
  rejectUnscannable: false,
  includeByokInBudgets: false,
};

/** A guardrail that governs a caller. */
export interface GuardrailRef {
  readonly id: string;
  readonly scope: GuardrailScope;
}

/** Whom a guardrail is assigned to. */
export type AssignmentSubject = Exclude<GuardrailScope, 'workspace'>;

interface Assignment extends GuardrailOwner {
  readonly id: string;
  readonly guardrailId: string;
  /** The id of a person; null: a key. */
  readonly assignedBy: string | null;
  readonly createdAt: Date;
}

export interface KeyAssignment extends Assignment {
  readonly subject: 'api_key';
  readonly hash: string;
  readonly name: string;
  readonly label: string;
}

export interface MemberAssignment extends Assignment {
  readonly subject: 'member';
  readonly userId: string;
}

export type GuardrailAssignment = KeyAssignment | MemberAssignment;

/** The id of the guardrail of a workspace's keys, which exists once it is configured. */
export function defaultGuardrailId(workspaceId: string): string {
  return uuidV5(workspaceId, 'default-guardrail');
}

export function noSuchGuardrail(): AppError {
  return new AppError('not_found', { detail: 'no such guardrail' });
}
