import { CopyButton } from '../actions/copy-button';
import styles from './code-block.module.css';

/** `what` names the text for its button and for screen readers: "curl sample". */
export function CodeBlock({ code, what }: { readonly code: string; readonly what: string }) {
  return (
    <div className={styles.block}>
      {/* Focusable, so that the keyboard can scroll it. */}
      <pre className={styles.code} tabIndex={0} role="group" aria-label={what}>
        {code}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={code} what={what} />
      </div>
    </div>
  );
}
