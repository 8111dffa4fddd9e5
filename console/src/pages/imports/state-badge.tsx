import type { ImportSummary } from '../../api/imports';
import { Badge } from '../../components/display/badge';
import { formatCount } from '../../format';

export function StateBadge({
  state,
  applied,
}: {
  readonly state: ImportSummary['state'];
  readonly applied: number;
}) {
  if (state === 'discarded') return <Badge tone="neutral">Discarded</Badge>;
  return applied > 0 ? (
    <Badge tone="good">{formatCount(applied)} applied</Badge>
  ) : (
    <Badge tone="accent">Open</Badge>
  );
}
