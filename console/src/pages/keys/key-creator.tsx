// The key or the person that has created a key, from the audit log.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { creationQuery } from '../../api/audit';
import type { ApiKey } from '../../api/keys';
import { useCan } from '../../app/rights';
import { Absent, Code, Name } from '../../components/display/values';

export function KeyCreator({ apiKey }: { readonly apiKey: ApiKey }) {
  const { hash, workspace_id: workspaceId, creator_user_id: creator } = apiKey;
  const canRead = useCan()('audit.read', workspaceId);
  const { data: entry } = useQuery({ ...creationQuery('api_key', hash), enabled: canRead });
  if (!canRead) return creator === null ? <Absent /> : <Code text={creator} />;
  if (entry === undefined) return <Absent />;
  // Commands of the service write no entry.
  if (entry === null) return 'Not in the audit log';
  const { key_hash: actor, key_name: name, key_label: label } = entry.actor;
  if (actor === null) return <bdi>{label}</bdi>;
  if (name === null) return <Code text={label} />;
  return (
    <Link to="/keys/$hash" params={{ hash: actor }}>
      <Name text={name} />
    </Link>
  );
}
