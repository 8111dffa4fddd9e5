// One message of a chat: who wrote it, and its text.
import type { ReactNode } from 'react';
import { Name } from './values';
import styles from './message.module.css';

interface MessageProps {
  readonly who: string;
  /** A message of the caller is shown at the other edge. */
  readonly isOwn?: boolean;
  /** Beside the name. */
  readonly badge?: ReactNode;
  readonly children: ReactNode;
}

export function Message({ who, isOwn = false, badge, children }: MessageProps) {
  return (
    <article className={`${styles.message} ${isOwn ? styles.own : ''}`} aria-label={who}>
      <header className={styles.who}>
        <Name text={who} />
        {badge}
      </header>
      {children}
    </article>
  );
}

export function MessageText({ text }: { readonly text: string }) {
  return (
    <p className={styles.text} dir="auto">
      {text}
    </p>
  );
}

/** Folded: it is long, and seldom read. */
export function Reasoning({ text }: { readonly text: string }) {
  return (
    <details className={styles.reasoning}>
      <summary>Reasoning</summary>
      <MessageText text={text} />
    </details>
  );
}
