import { formatAmount, formatMoney } from '../../format';
import styles from './spend-bar.module.css';

interface SpendBarProps {
  /** Names the spend for screen readers: "Spend of Search team". */
  readonly label: string;
  readonly spend: number;
  /** Null: no limit, and so no bar. */
  readonly limit: number | null;
}

const NEARLY = 0.8;

export function SpendBar({ label, spend, limit }: SpendBarProps) {
  if (limit === null) {
    return (
      <span className={styles.text} title={formatMoney(spend)}>
        {formatAmount(spend)} <span className={styles.limit}>no limit</span>
      </span>
    );
  }
  const share = limit === 0 ? 1 : Math.min(1, spend / limit);
  const tone = share >= 1 ? styles.full : share >= NEARLY ? styles.nearly : styles.within;
  const text = `${formatMoney(spend)} of ${formatMoney(limit)}`;
  return (
    <span className={styles.spend}>
      <span className={styles.text} title={text}>
        {formatAmount(spend)} <span className={styles.limit}>of {formatAmount(limit)}</span>
      </span>
      <span
        className={styles.track}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={text}
      >
        <span className={`${styles.bar} ${tone}`} style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}
