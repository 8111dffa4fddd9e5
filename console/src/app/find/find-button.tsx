// The way to the search over the whole account: a field in the navigation, and Ctrl K everywhere.
import { lazy, Suspense, useEffect, useState } from 'react';
import { Icon } from '../../components/display/icon';
import styles from './find.module.css';

// Dialogs are large, and the first page has none.
const FindDialog = lazy(async () => ({ default: (await import('./find-dialog')).FindDialog }));

const isMac = /mac/i.test(navigator.platform);

export function FindButton() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isShortcut = (isMac ? event.metaKey : event.ctrlKey) && event.key.toLowerCase() === 'k';
      if (!isShortcut || event.shiftKey || event.altKey) return;
      // The browser's own search otherwise.
      event.preventDefault();
      // A dialog that is open keeps what it shows.
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') === null) setOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <button
        type="button"
        className={styles.button}
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        <span className={styles.label}>Find anything</span>
        <kbd className={styles.keys} aria-hidden="true">
          {isMac ? '⌘K' : 'Ctrl K'}
        </kbd>
      </button>
      {isOpen && (
        <Suspense>
          <FindDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
