// A choice that lives in the address: links side by side, the chosen one marked.
import type { ReactNode } from 'react';
import styles from './choice-links.module.css';

/** `children` are links; each carries `aria-current` when it is chosen. */
export function ChoiceLinks({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav className={styles.choices} aria-label={label}>
      {children}
    </nav>
  );
}
