import type { ReactNode } from 'react';
import styles from './sign-in-frame.module.css';

interface SignInFrameProps {
  readonly iconUrl: string;
  readonly foot?: ReactNode;
  readonly children?: ReactNode;
}

/** The card without its form is painted by index.html. */
export function SignInFrame({ iconUrl, foot, children }: SignInFrameProps) {
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <div className={styles.brand}>
          <img src={iconUrl} width="32" height="32" alt="" />
          <h1 className={styles.title}>Sign in to signalbox</h1>
        </div>
        {children}
      </div>
      {foot}
    </main>
  );
}
