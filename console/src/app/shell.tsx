// The frame around every page: skip link, navigation, workspace, theme, session.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { createContext, lazy, Suspense, useContext, useState } from 'react';
import { END_SESSION, sessionQuery, signOut } from '../api/session';
import { urlOf } from '../base-path';
import { IconButton } from '../components/actions/button';
import { Name } from '../components/display/values';
import { messageOf } from '../api/problems';
import { showToast } from '../components/feedback/toasts';
import { Placeholder } from '../components/feedback/states';
import { NetworkBanner } from '../components/feedback/network-banner';
import { FindButton } from './find/find-button';
import { Frame } from './frame';
import type { FrameLinkProps } from './frame';
import styles from './frame.module.css';
import { INFERENCE_NAVIGATION, navigationOf } from './navigation';
import { isWaiting, rightsOf } from './rights';
import { setSessionEnded, useSessionEnded } from './session-end';
import { ThemeSwitch } from './theme-switch';
import { useSession } from './workspace';
import { WorkspaceSwitch } from './workspace-switch';

const SignInOver = lazy(async () => ({
  default: (await import('../pages/sign-in/sign-in-over')).SignInOver,
}));

/** People alone need it. */
const PersonPage = lazy(async () => ({ default: (await import('../pages/person/person-page')).PersonPage }));
const PersonLine = lazy(async () => ({ default: (await import('../pages/person/person-line')).PersonLine }));

export function Shell() {
  const session = useSession();
  const hasEnded = useSessionEnded();
  const [isOpen, setOpen] = useState(false);
  const isWhole = session.kind !== 'inference' && !isWaiting(session);
  return (
    <OpenContext value={setOpen}>
      <Frame
        groups={
          session.kind === 'inference'
            ? INFERENCE_NAVIGATION
            : navigationOf(rightsOf(session), session.kind === 'person')
        }
        EntryLink={EntryLink}
        iconUrl={urlOf('/favicon.svg')}
        isOpen={isOpen}
        find={isWhole && <FindButton />}
        toggle={
          <IconButton
            icon={isOpen ? 'close' : 'menu'}
            label={isOpen ? 'Close navigation' : 'Open navigation'}
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          />
        }
        top={isWhole && <WorkspaceSwitch />}
        foot={
          <>
            <ThemeSwitch />
            <SessionLine />
          </>
        }
        banner={<NetworkBanner />}
      >
        {session.kind === 'person' ? (
          <Suspense fallback={<Placeholder />}>
            <PersonPage />
          </Suspense>
        ) : (
          <Outlet />
        )}
      </Frame>
      {hasEnded && (
        <Suspense>
          <SignInOver />
        </Suspense>
      )}
    </OpenContext>
  );
}

/** Opens and closes the navigation of a narrow window. */
const OpenContext = createContext<(isOpen: boolean) => void>(() => undefined);

function EntryLink({ to, className, children }: FrameLinkProps) {
  const setOpen = useContext(OpenContext);
  return (
    <Link
      to={to}
      className={className}
      onClick={() => setOpen(false)}
      activeProps={{ className: styles.active ?? '', 'aria-current': 'page' }}
      activeOptions={{ exact: to === '/', includeSearch: false }}
    >
      {children}
    </Link>
  );
}

function SessionLine() {
  const session = useSession();
  const client = useQueryClient();
  const router = useRouter();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async (endSessionUrl) => {
      client.clear();
      client.setQueryData(END_SESSION, endSessionUrl);
      setSessionEnded(false);
      client.setQueryData(sessionQuery.queryKey, null);
      await router.navigate({ to: '/sign-in', search: {} });
    },
    onError: (error) => showToast({ tone: 'bad', text: `You are still signed in. ${messageOf(error)}` }),
  });
  return (
    <div className={styles.session}>
      <div className={styles.sessionText}>
        {session.kind === 'person' ? (
          <Suspense>
            <PersonLine session={session} />
          </Suspense>
        ) : (
          <>
            <Name text={session.key_name} />
            <code className={styles.label}>{session.key_label}</code>
          </>
        )}
      </div>
      <IconButton icon="signOut" label="Sign out" onClick={() => leave.mutate()} />
    </div>
  );
}
