import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { workspacesQuery } from '../api/workspaces';
import { useSession, useWorkspaceId } from './workspace';
import styles from './workspace-switch.module.css';

// Parameters that name objects of one workspace mean nothing in another.
const BOUND = { key: undefined, request: undefined, session: undefined, user: undefined, object: undefined };

export function WorkspaceSwitch() {
  const session = useSession();
  const chosen = useWorkspaceId();
  const navigate = useNavigate();
  const { data } = useQuery(workspacesQuery);
  const own = { id: session.workspace_id, name: session.workspace_name };
  const choose = (id: string) => {
    const workspace = id === session.workspace_id ? undefined : id;
    void navigate({ to: '.', search: (former) => ({ ...former, ...BOUND, workspace }) });
  };
  const known = data ?? [own];
  const other = { id: chosen, name: data === undefined ? 'Another workspace' : 'Unknown workspace' };
  // A deleted one, or one of another account: it must be selected for the reader to leave it.
  const options = known.some(({ id }) => id === chosen) ? known : [other, ...known];
  return (
    <label className={styles.switch}>
      <span className="visually-hidden">Workspace</span>
      <select className={styles.select} value={chosen} onChange={(event) => choose(event.target.value)}>
        {options.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
