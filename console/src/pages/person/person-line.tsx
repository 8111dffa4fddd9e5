// The person and the role, at the end of the navigation.
import type { PersonSession } from '../../api/session';
import styles from '../../app/frame.module.css';
import { Name } from '../../components/display/values';
import { capitalise, formatCountOf } from '../../format';

export function PersonLine({ session }: { readonly session: PersonSession }) {
  const { id, email, first_name: first, last_name: last } = session.person;
  return (
    <>
      <Name text={email ?? ([first, last].filter(Boolean).join(' ') || id)} />
      <span className={styles.label}>{roleOf(session)}</span>
    </>
  );
}

/** "Admin", or "Admin, viewer in 3 workspaces". */
function roleOf({ account_role: role, workspaces }: PersonSession): string {
  const roles = [...new Set(workspaces.map((workspace) => workspace.role))].join(', ');
  return capitalise(
    role ?? (roles === '' ? 'no role' : `${roles} in ${formatCountOf(workspaces.length, 'workspace')}`),
  );
}
