// Short notes about an action that has ended. They are read out, and go by themselves.
import { useSyncExternalStore } from 'react';
import { IconButton } from '../actions/button';
import styles from './toasts.module.css';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number): void => change(toasts.filter((toast) => toast.id !== id));

export function showToast(toast: Omit<Toast, 'id'>): void {
  const id = (lastId += 1);
  change([...toasts.slice(-2), { ...toast, id }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className={styles.toasts} role="status">
      {shown.map(({ id, tone, text }) => (
        <div key={id} className={`${styles.toast} ${styles[tone]}`}>
          <span className={styles.text}>{text}</span>
          <IconButton icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
