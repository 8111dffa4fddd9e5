// One small call to a provider, and what it answered.
import { useMutation } from '@tanstack/react-query';
import { testProvider } from '../../api/providers';
import type { ProviderTest } from '../../api/providers';
import { messageOf } from '../../api/problems';
import { formatCount, formatDuration, formatAmount } from '../../format';
import { Button } from '../actions/button';
import { Badge } from '../display/badge';
import styles from './provider-test.module.css';

interface ProviderTestButtonProps {
  readonly slug: string;
  /** The name of the provider or of the own key, for screen readers. */
  readonly name: string;
  /** An own key; absent: the operator's. */
  readonly byokId?: string;
}

export function ProviderTestButton({ slug, name, byokId }: ProviderTestButtonProps) {
  const test = useMutation({
    mutationFn: () => testProvider(slug, byokId === undefined ? {} : { byok_id: byokId }),
  });
  return (
    <span className={styles.test}>
      <span role="status" className={styles.result}>
        {test.data && <Result test={test.data} />}
        {test.error !== null && <span className={styles.bad}>{messageOf(test.error)}</span>}
      </span>
      <Button
        isBusy={test.isPending}
        aria-label={`Test ${name}`}
        title="Sends one small call, whose cost it shows"
        onClick={() => test.mutate()}
      >
        {test.isPending ? 'Testing…' : 'Test'}
      </Button>
    </span>
  );
}

function Result({ test: { ok, reason, status, cost, tokens, latency } }: { readonly test: ProviderTest }) {
  if (!ok) {
    return (
      <>
        <Badge tone="bad">{status === null ? 'Failed' : `HTTP ${status}`}</Badge>{' '}
        <bdi title={reason ?? undefined}>{wordsOf(status, reason)}</bdi>
      </>
    );
  }
  return (
    <>
      <Badge tone="good">Works</Badge> {formatDuration(latency)}
      {tokens !== null && `, ${formatCount(tokens)} tokens`}
      {cost !== null && `, ${formatAmount(cost)}`}
    </>
  );
}

/** The provider's own words, where it has some. */
function wordsOf(status: number | null, reason: string | null): string {
  const words = (reason ?? '').replace(/^HTTP \d{3}:?\s*/, '').replace(/^\{\s*\}$/, '');
  if (status !== 401 && status !== 403) return words === '' ? 'The provider gave no reason.' : words;
  return words === '' ? 'The credential is refused.' : `The credential is refused: ${words}`;
}
