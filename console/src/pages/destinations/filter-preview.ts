// How many of the last calls the rules of the form select. Asked after a pause while typing.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { selectionPreviewQuery } from '../../api/destinations';
import type { PreviewedSelection, SelectionPreview } from '../../api/destinations';
import { readProblems } from '../../api/problems';
import type { Problems } from '../../api/problems';
import { useSettled } from '../../components/form/use-settled';
import { formatCount, formatCountOf } from '../../format';
import { isFilterComplete } from './filter-builder';

export interface FilterPreview {
  /** Null: there is nothing to say. */
  readonly text: string | null;
  /** Null: the rules are not checked yet. */
  readonly problems: Problems['members'] | null;
}

const NOT_CHECKED: FilterPreview = { text: null, problems: null };

/** `paths` are the members of the rules that the form shows. */
export function useFilterPreview(selection: PreviewedSelection, paths: readonly string[]): FilterPreview {
  const { api_key_hashes: keys, filter_rules: filter } = selection;
  const asked = JSON.stringify(selection);
  const isSettled = useSettled(asked) === asked;
  const canAsk =
    (keys !== null || filter !== null) && keys?.length !== 0 && isFilterComplete(filter?.groups ?? []);
  const { data, error, isPlaceholderData } = useQuery({
    ...selectionPreviewQuery(selection),
    enabled: canAsk && isSettled,
    placeholderData: keepPreviousData,
  });
  if (!canAsk) return NOT_CHECKED;
  if (error !== null) {
    const { members, general } = readProblems(error, paths);
    return { text: general, problems: members };
  }
  if (data === undefined) return NOT_CHECKED;
  return { text: sentencesOf(data), problems: isPlaceholderData ? null : {} };
}

function sentencesOf({ matched, of, content_gone: gone }: SelectionPreview): string {
  if (of === 0) return 'The workspace has no calls to try the rules on.';
  const calls = `the last ${formatCountOf(of, 'call')}`;
  const sentence = `Would have matched ${formatCount(matched)} of ${calls}.`;
  if (gone === 0) return sentence;
  return `${sentence} ${formatCount(gone)} could not be checked: their input and output are no longer stored.`;
}
