// Prices: USD for a million tokens.
import { Money } from '../../components/display/values';
import { formatUtcDay } from '../../format';
import styles from './models.module.css';

const MILLION = 1e6;

interface PriceProps {
  /** USD for one token, as a decimal string; -1: unknown. */
  readonly perToken: string;
  /** The day from which it holds. */
  readonly from?: string | null;
}

export function Price({ perToken, from = null }: PriceProps) {
  const price = Number(perToken);
  if (price < 0) return <span className={styles.muted}>Unknown</span>;
  return (
    <span className={styles.price}>
      <Amount usd={Number((price * MILLION).toPrecision(12))} />
      {from !== null && <span className={styles.muted}>since {formatUtcDay(from)}</span>}
    </span>
  );
}

/** 0 is a price. */
export const Amount = ({ usd }: { readonly usd: number }) =>
  usd === 0 ? 'Free' : <Money isExact usd={usd} />;
