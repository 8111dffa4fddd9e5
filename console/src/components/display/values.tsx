// Single values as every page shows them: amounts, times, names, ids.
import { formatAmount, formatMoney, formatRelative, formatTime, formatUtc } from '../../format';
import { useNow } from './clock';
import { CopyButton } from '../actions/copy-button';
import styles from './values.module.css';

interface MoneyProps {
  readonly usd: number;
  /** With all digits: for prices, and parts of a sum. Otherwise they are the text on hover. */
  readonly isExact?: boolean;
}

export function Money({ usd, isExact = false }: MoneyProps) {
  const exact = formatMoney(usd);
  return (
    <span className={styles.figure} title={isExact ? undefined : exact}>
      {isExact ? exact : formatAmount(usd)}
    </span>
  );
}

interface TimeProps {
  /** Null: `absent` is shown. */
  readonly at: string | null | undefined;
  readonly absent?: string;
  /** "3 minutes ago" instead of the moment. */
  readonly isRelative?: boolean;
  /** It has happened, and is not to come by a clock of the reader that is behind. */
  readonly isPast?: boolean;
}

/** In the local zone; UTC on hover. */
export function Time({ at, absent = '–', isRelative = false, isPast = false }: TimeProps) {
  const now = useNow();
  if (!at) return <span className={styles.absent}>{absent}</span>;
  return (
    <time
      className={styles.figure}
      dateTime={at}
      title={isRelative ? `${formatTime(at)} (${formatUtc(at)})` : formatUtc(at)}
    >
      {isRelative ? formatRelative(at, isPast ? Math.max(now, Date.parse(at)) : now) : formatTime(at)}
    </time>
  );
}

/** Text that a user has chosen: cut where it does not fit, and isolated, as it may run from right to left. */
export function Name({ text }: { readonly text: string }) {
  return (
    <bdi className={styles.name} title={text}>
      {text}
    </bdi>
  );
}

// Versions and sizes are at the end of a model's id.
const TAIL = 10;

/** The id of a model, cut in the middle where it does not fit: models of one family begin alike. */
export function ModelId({ id }: { readonly id: string }) {
  return (
    <span className={styles.model} title={id}>
      {/* Two parts would be read with a pause between them. */}
      <span className="visually-hidden">{id}</span>
      <span className={styles.modelHead} aria-hidden="true">
        {id.slice(0, -TAIL)}
      </span>
      <span aria-hidden="true">{id.slice(-TAIL)}</span>
    </span>
  );
}

interface CodeProps {
  readonly text: string;
  /** Adds a button that copies it: "session id". */
  readonly what?: string;
}

/** An id or another text for machines. */
export function Code({ text, what }: CodeProps) {
  return (
    <span className={styles.codeLine}>
      <code className={styles.code} title={text}>
        {text}
      </code>
      {what !== undefined && <CopyButton text={text} what={what} />}
    </span>
  );
}

/** For a value that is absent. */
export const Absent = () => <span className={styles.absent}>–</span>;
