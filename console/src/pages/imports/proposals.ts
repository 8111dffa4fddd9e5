// Proposals of an import: their groups, and those that may be taken together.
import type { Proposal } from '../../api/imports';

export const GROUPS: readonly (readonly [Proposal['group'], string, string])[] = [
  ['new', 'New', 'The catalogue has no price of them. All lists that know one agree.'],
  ['cheaper', 'Cheaper', 'All lists that know the model state less than the price in force.'],
  ['dearer', 'Dearer', 'All lists that know the model state more than the price in force.'],
  [
    'lists disagree',
    'Lists disagree',
    'Choose the list that is right, one by one, or add a price of your own with its source.',
  ],
  [
    'one list',
    'In one list only',
    'No second list confirms them. Compare them with the page of the provider first.',
  ],
  ['tiers', 'Other tiers', 'Lists state other tiers or service tiers. Add a price of your own.'],
  ['future', 'From a later day', 'A list announces a price. Add a price of your own from that day.'],
  ['remove', 'Gone', 'A list has dropped a price that it had announced. Remove it if it was added.'],
];

export const isTyped = ({ holds }: Proposal): boolean => holds.some((hold) => hold.is_typed);

/** Why no choice can be applied; null: one can. */
export function problemOf({ choices }: Proposal): string | null {
  const problems = choices.map(({ problem }) => problem);
  return problems.includes(null) ? null : (problems[0] ?? 'It is for a price of your own.');
}

const isOpen = (proposal: Proposal): boolean =>
  proposal.applied_version === null && problemOf(proposal) === null;

/** Lists disagree, one list alone says so, or a hold wants a person: a decision of its own. */
export const isTakenAlone = (proposal: Proposal): boolean =>
  isOpen(proposal) &&
  (isTyped(proposal) ||
    proposal.choices.length > 1 ||
    ['lists disagree', 'one list'].includes(proposal.group));

export const isTakenTogether = (proposal: Proposal): boolean => isOpen(proposal) && !isTakenAlone(proposal);

/** At first nothing is selected but new models on whose prices the lists agree, and that no hold keeps back. */
export const isSelectedAtFirst = (proposal: Proposal): boolean =>
  proposal.group === 'new' && proposal.holds.length === 0 && isTakenTogether(proposal);

/** The lists with a value in one of the proposals, in the order of their first one. */
export const listsOf = (proposals: readonly Proposal[]): readonly string[] => [
  ...new Set(
    proposals.flatMap(({ prices }) => prices.flatMap(({ values }) => values.map(({ list }) => list))),
  ),
];
