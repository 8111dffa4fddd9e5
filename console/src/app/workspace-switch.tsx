import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { workspacesQuery } from '../api/workspaces';
import { ALL_WORKSPACES, useSession, useWorkspaceId, useWorkspaceScope } from './workspace';
import styles from './workspace-switch.module.css';

// Parameters that name objects of one workspace mean nothing in another.
const BOUND = { key: undefined, request: undefined, session: undefined, user: undefined, object: undefined };

/** The pages of one workspace alone; all others show every workspace, or none. */
const OF_ONE = /^\/(?:destinations|provider-keys|alerts|refusals|audit|playground)(?:\/|$)/;

export function WorkspaceSwitch() {
  const session = useSession();
  const workspaceId = useWorkspaceId();
  const isAll = useWorkspaceScope() === null;
  const hasAll = !OF_ONE.test(useLocation().pathname);
  const chosen = isAll && hasAll ? ALL_WORKSPACES : workspaceId;
  const navigate = useNavigate();
  const { data } = useQuery(workspacesQuery);
  const own = { id: session.workspace_id, name: session.workspace_name };
  const choose = (id: string) => {
    const workspace = id === session.workspace_id ? undefined : id;
    void navigate({ to: '.', search: (former) => ({ ...former, ...BOUND, workspace }) });
  };
  const known = data ?? [own];
  const other = { id: workspaceId, name: data === undefined ? 'Another workspace' : 'Unknown workspace' };
  // A deleted one, or one of another account: it must be selected for the reader to leave it.
  const options = known.some(({ id }) => id === workspaceId) ? known : [other, ...known];
  return (
    <label className={styles.switch}>
      <span className="visually-hidden">Workspace</span>
      <select className={styles.select} value={chosen} onChange={(event) => choose(event.target.value)}>
        {hasAll && options.length > 1 && <option value={ALL_WORKSPACES}>All workspaces</option>}
        {options.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
