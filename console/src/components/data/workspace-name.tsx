// A workspace by its name, with the way to its page.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { workspacesQuery } from '../../api/workspaces';
import { Name } from '../display/values';
import { abbreviate } from '../../format';

/** Null: all workspaces. */
export function WorkspaceName({ id }: { readonly id: string | null }) {
  const { data } = useQuery(workspacesQuery);
  if (id === null) return 'All workspaces';
  return (
    <Link to="/workspaces/$id" params={{ id }}>
      <Name text={data?.find((workspace) => workspace.id === id)?.name ?? abbreviate(id)} />
    </Link>
  );
}
