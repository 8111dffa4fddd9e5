import { oneOf, textOf } from '../../app/search';

export const COVERS = ['keys', 'workspace_budgets', 'credits'] as const;

export interface AlertsSearch {
  /** Opens the form of a new alert, for these limits. */
  readonly add?: 'any' | (typeof COVERS)[number];
  /** The workspace of the new alert; absent: all of the account. */
  readonly for?: string;
}

export function readAlertsSearch(search: Readonly<Record<string, unknown>>): AlertsSearch {
  return { add: oneOf(['any', ...COVERS] as const, search['add']), for: textOf(search['for']) };
}

export const EVENT_FILTERS = ['pending', 'delivered', 'dead_letter'] as const;

export interface AlertSearch {
  /** Only events in this state. */
  readonly events?: (typeof EVENT_FILTERS)[number];
}

export function readAlertSearch(search: Readonly<Record<string, unknown>>): AlertSearch {
  return { events: oneOf(EVENT_FILTERS, search['events']) };
}
