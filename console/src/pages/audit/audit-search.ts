import { oneOf, textOf } from '../../app/search';

export const OBJECT_TYPES = [
  'api_key',
  'catalogue_import',
  'catalogue_model',
  'destination',
  'encryption_key',
  'federation_policy',
  'guardrail',
  'guardrail_assignment',
  'notification',
  'own_key_policy',
  'preset',
  'provider_credential',
  'workspace',
  'workspace_budget',
  'workspace_member',
] as const;
export const ACTIONS = ['create', 'update', 'delete', 'rotate'] as const;

export interface AuditSearch {
  readonly type?: (typeof OBJECT_TYPES)[number];
  readonly action?: (typeof ACTIONS)[number];
  /** The id of one object. */
  readonly object?: string;
  /** `all`: of every workspace, and of objects that belong to none. */
  readonly scope?: 'all';
  /** Local days. */
  readonly from?: string;
  readonly to?: string;
}

export function readAuditSearch(search: Readonly<Record<string, unknown>>): AuditSearch {
  return {
    type: oneOf(OBJECT_TYPES, search['type']),
    action: oneOf(ACTIONS, search['action']),
    object: textOf(search['object']),
    scope: oneOf(['all'] as const, search['scope']),
    from: textOf(search['from']),
    to: textOf(search['to']),
  };
}
