// Instead of content: nothing there yet, or it could not be loaded.
import type { ReactNode } from 'react';
import { ApiError } from '../../api/client';
import { messageOf } from '../../api/problems';
import { Button } from '../actions/button';
import { Code } from '../display/values';
import { Icon } from '../display/icon';
import styles from './states.module.css';

interface EmptyStateProps {
  readonly title: string;
  /** The next step. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children !== undefined && <div className={styles.text}>{children}</div>}
      {action !== undefined && <div className={styles.action}>{action}</div>}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  const isForbidden = error instanceof ApiError && error.status === 403;
  return (
    <div className={styles.state} role="alert">
      <p className={`${styles.title} ${styles.bad}`}>
        <Icon name="warning" /> {isForbidden ? 'You may not see this' : 'This could not be loaded'}
      </p>
      <p className={styles.text}>{messageOf(error)}</p>
      {requestId !== null && (
        <p className={styles.text}>
          Request id <Code text={requestId} what="request id" />
        </p>
      )}
      {onRetry && !isForbidden && (
        <div className={styles.action}>
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

interface ObjectErrorProps extends ErrorStateProps {
  /** "key" */
  readonly what: string;
  /** The way to the list. */
  readonly back: ReactNode;
}

/** For the page of one object. One that is absent has nothing to try again. */
export function ObjectError({ error, onRetry, what, back }: ObjectErrorProps) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} {...(onRetry === undefined ? {} : { onRetry })} />;
  return (
    <EmptyState title={`This ${what} does not exist`} action={back}>
      It was deleted, or the address is not complete.
    </EmptyState>
  );
}

/** A remark inside a page or form. */
export function Notice({
  tone,
  children,
}: {
  readonly tone: 'info' | 'warning' | 'bad';
  readonly children: ReactNode;
}) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : undefined}>
      {children}
    </div>
  );
}

/** Keeps the place of content that loads. */
export function Placeholder({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles.placeholder} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_line, index) => (
        <span key={index} className={styles.line} />
      ))}
    </div>
  );
}

/** For an event that has no end in sight: "Waiting for the first call". */
export function Waiting({ children }: { readonly children: ReactNode }) {
  return (
    <p className={styles.waiting} role="status">
      <span className={styles.pulse} /> {children}
    </p>
  );
}
