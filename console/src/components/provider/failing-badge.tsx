import type { ProviderHealth } from '../../api/provider-health';
import { formatCount } from '../../format';
import { Badge } from '../display/badge';

/** For a provider that has open endpoints. */
export function FailingBadge({ health }: { readonly health: ProviderHealth }) {
  const { configured_endpoints: all, open_endpoints: open } = health;
  return open === all ? (
    <Badge tone="bad">Not answering</Badge>
  ) : (
    <Badge tone="warning">
      {formatCount(open)} of {formatCount(all)} models fail
    </Badge>
  );
}
