import type { ReactNode } from 'react';
import styles from './badge.module.css';

export type Tone = 'good' | 'warning' | 'bad' | 'accent' | 'neutral';

/** A state as a word; the colour only repeats it. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>;
}

/** The HTTP status of a call. */
export function StatusBadge({ status }: { readonly status: number }) {
  const tone = status < 400 ? 'good' : status < 500 ? 'warning' : 'bad';
  return <Badge tone={tone}>{status}</Badge>;
}
