// The frame around every page: skip link, navigation, workspace, theme, session.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { sessionQuery, signOut } from '../api/session';
import { urlOf } from '../base-path';
import { IconButton } from '../components/actions/button';
import { Icon } from '../components/display/icon';
import { Name } from '../components/display/values';
import { messageOf } from '../api/problems';
import { showToast } from '../components/feedback/toasts';
import { NetworkBanner } from '../components/feedback/network-banner';
import { INFERENCE_NAVIGATION, NAVIGATION } from './navigation';
import styles from './shell.module.css';
import { ThemeSwitch } from './theme-switch';
import { useSession } from './workspace';
import { WorkspaceSwitch } from './workspace-switch';

export function Shell() {
  const session = useSession();
  const [isOpen, setOpen] = useState(false);
  const isManagement = session.kind === 'management';
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <header className={styles.side}>
        <div className={styles.bar}>
          <Link to="/" className={styles.brand}>
            <img src={urlOf('/favicon.svg')} width="22" height="22" alt="" />
            signalbox
          </Link>
          <IconButton
            className={styles.toggle ?? ''}
            icon={isOpen ? 'close' : 'menu'}
            label={isOpen ? 'Close navigation' : 'Open navigation'}
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          />
        </div>
        <div id="navigation" className={`${styles.panel} ${isOpen ? styles.open : ''}`}>
          {isManagement && <WorkspaceSwitch />}
          <nav className={styles.navigation} aria-label="Pages">
            {(isManagement ? NAVIGATION : INFERENCE_NAVIGATION).map(({ title, entries }) => (
              <div key={title ?? ''} className={styles.group}>
                {title !== null && <p className={styles.groupTitle}>{title}</p>}
                <ul>
                  {entries.map(({ to, label, icon }) => (
                    <li key={to}>
                      <Link
                        to={to}
                        className={styles.entry}
                        onClick={() => setOpen(false)}
                        activeProps={{ className: styles.active ?? '', 'aria-current': 'page' }}
                        activeOptions={{ exact: to === '/', includeSearch: false }}
                      >
                        <Icon name={icon} />
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          <div className={styles.foot}>
            <ThemeSwitch />
            <SessionLine />
          </div>
        </div>
      </header>
      <div className={styles.content}>
        <NetworkBanner />
        <main id="content" className={styles.main} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}

function SessionLine() {
  const session = useSession();
  const client = useQueryClient();
  const router = useRouter();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, null);
      await router.navigate({ to: '/sign-in', search: {} });
    },
    onError: (error) => showToast({ tone: 'bad', text: `You are still signed in. ${messageOf(error)}` }),
  });
  return (
    <div className={styles.session}>
      <div className={styles.sessionText}>
        <Name text={session.key_name} />
        <code className={styles.label}>{session.key_label}</code>
      </div>
      <IconButton icon="signOut" label="Sign out" onClick={() => leave.mutate()} />
    </div>
  );
}
