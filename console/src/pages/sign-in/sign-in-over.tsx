// The sign-in over a page whose session has ended. A dialog of the browser: it lies above every dialog of the page.
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { sessionQuery } from '../../api/session';
import type { Session } from '../../api/session';
import { setSessionEnded } from '../../app/session-end';
import { useSession } from '../../app/workspace';
import { BASE_PATH } from '../../base-path';
import { Notice } from '../../components/feedback/states';
import { SignInWays } from './sign-in-ways';
import styles from './sign-in-frame.module.css';

export function SignInOver() {
  const former = useSession();
  const client = useQueryClient();
  const router = useRouter();
  const title = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const show = () => {
    if (dialog.current?.open === false) dialog.current.showModal();
  };
  useEffect(show, []);
  const enter = (session: Session) => {
    if (!hasSameRights(session, former)) {
      // The page has objects that this session may not see.
      location.assign(BASE_PATH);
      return;
    }
    client.setQueryData(sessionQuery.queryKey, session);
    setSessionEnded(false);
    void router.invalidate();
    void client.invalidateQueries();
  };
  // Signed in by a provider, beside this page.
  useEffect(() => {
    const look = async () => {
      const session = await client.fetchQuery({
        ...sessionQuery,
        queryKey: ['session', 'new'],
        staleTime: 0,
      });
      if (session !== null) enter(session);
    };
    const lookAgain = () => void look().catch(() => undefined);
    addEventListener('focus', lookAgain);
    return () => removeEventListener('focus', lookAgain);
  });
  return createPortal(
    <dialog
      ref={dialog}
      className={`${styles.card} ${styles.over}`}
      aria-labelledby={title}
      // Nothing but a session closes it.
      onCancel={(event) => event.preventDefault()}
      onClose={show}
    >
      <h2 id={title} className={styles.title}>
        Sign in to signalbox
      </h2>
      <SignInWays
        returnTo={router.state.location.publicHref}
        isBeside
        notice={<Notice tone="info">The session has ended. The page keeps what you have typed.</Notice>}
        onSignedIn={enter}
      />
    </dialog>,
    document.body,
  );
}

/** Whether the page may stay: it has objects that another person or account may not see. */
function hasSameRights(session: Session, former: Session): boolean {
  if (session.account_id !== former.account_id || session.kind !== former.kind) return false;
  return session.kind !== 'person' || (former.kind === 'person' && session.person.id === former.person.id);
}
