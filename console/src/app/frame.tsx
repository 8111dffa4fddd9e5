// The frame around every page, without what needs a session: the build paints it into index.html.
import type { ComponentType, ReactNode } from 'react';
import { Icon } from '../components/display/icon';
import type { NavigationGroup } from './navigation';
import styles from './frame.module.css';

export interface FrameLinkProps {
  readonly to: string;
  readonly className: string | undefined;
  readonly children: ReactNode;
}

interface FrameProps {
  readonly groups: readonly NavigationGroup[];
  readonly EntryLink: ComponentType<FrameLinkProps>;
  readonly iconUrl: string;
  readonly isOpen?: boolean;
  /** The search, beside the name of the service. */
  readonly find: ReactNode;
  /** Opens the navigation of a narrow window. */
  readonly toggle: ReactNode;
  /** Above the entries. */
  readonly top: ReactNode;
  readonly foot?: ReactNode;
  readonly banner?: ReactNode;
  readonly children: ReactNode;
}

export function Frame(props: FrameProps) {
  const { groups, EntryLink, iconUrl, isOpen = false, find, toggle, top, foot, banner, children } = props;
  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <header className={styles.side}>
        <div className={styles.bar}>
          <EntryLink to="/" className={styles.brand}>
            <img src={iconUrl} width="22" height="22" alt="" />
            signalbox
          </EntryLink>
          {find}
          <span className={styles.toggle}>{toggle}</span>
        </div>
        <div id="navigation" className={`${styles.panel} ${isOpen ? styles.open : ''}`}>
          {top}
          <nav className={styles.navigation} aria-label="Pages">
            {groups.map(({ title, entries }) => (
              <div key={title ?? ''}>
                {title !== null && <p className={styles.groupTitle}>{title}</p>}
                <ul>
                  {entries.map(({ to, label, icon }) => (
                    <li key={to}>
                      <EntryLink to={to} className={styles.entry}>
                        <Icon name={icon} />
                        {label}
                      </EntryLink>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          {foot !== undefined && <div className={styles.foot}>{foot}</div>}
        </div>
      </header>
      <div className={styles.content}>
        {banner}
        <main id="content" className={styles.main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}
