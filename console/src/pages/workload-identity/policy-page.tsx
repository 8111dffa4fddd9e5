// One federation policy: which tokens it takes, whose calls they make, and the commands of a job.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import {
  deletePolicy,
  FEDERATION_POLICIES,
  federationPoliciesQuery,
  federationPolicyQuery,
  updatePolicy,
} from '../../api/federation';
import type { FederationPolicy } from '../../api/federation';
import { isExpired, keyQuery } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { messageOf } from '../../api/problems';
import { useObjectWorkspace } from '../../app/workspace';
import { useNow } from '../../components/display/clock';
import { buttonClass } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { KeyName } from '../../components/data/key-name';
import { WorkspaceName } from '../../components/data/workspace-name';
import { Badge } from '../../components/display/badge';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Code, Time } from '../../components/display/values';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { formatDuration } from '../../format';
import { jobSamples } from './platforms';
import styles from './policies.module.css';

const route = getRouteApi('/app/management/workload-identity/$id');

export function PolicyPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(federationPolicyQuery(id));
  if (data !== undefined) return <PolicyView key={id} policy={data} />;
  return (
    <Page title="Policy">
      {error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="policy"
          back={<Link to="/workload-identity">All policies</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function PolicyView({ policy }: { readonly policy: FederationPolicy }) {
  const { id, name, enabled, workspace_id: workspaceId, api_key_hash: hash } = policy;
  useObjectWorkspace(workspaceId);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [dialog, setDialog] = useState<'disable' | 'delete' | null>(null);
  const close = () => setDialog(null);
  const key = useQuery(keyQuery(hash));
  const toggle = useMutation({
    mutationFn: () => updatePolicy(id, { enabled: !enabled }),
    onSuccess: async () => {
      close();
      await client.invalidateQueries({ queryKey: FEDERATION_POLICIES });
    },
  });
  const remove = useMutation({
    mutationFn: () => deletePolicy(id),
    onMutate: () => client.cancelQueries({ queryKey: [...FEDERATION_POLICIES, id] }),
    onSuccess: async () => {
      showToast({ tone: 'good', text: `${name} was deleted.` });
      await navigate({ to: '/workload-identity', replace: true });
      client.removeQueries({ queryKey: [...FEDERATION_POLICIES, id] });
      await client.invalidateQueries({ queryKey: federationPoliciesQuery.queryKey });
    },
  });
  const enable = () =>
    toggle.mutate(undefined, { onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }) });
  return (
    <Page
      title={name}
      description={enabled ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>}
      actions={
        <>
          <Link to="/workload-identity/$id/edit" params={{ id }} className={buttonClass('primary')}>
            Edit
          </Link>
          <ActionMenu
            label={`Further actions for ${name}`}
            actions={[
              enabled
                ? { label: 'Disable', onSelect: () => setDialog('disable') }
                : { label: 'Enable', onSelect: enable },
              { label: 'Delete', onSelect: () => setDialog('delete'), isDangerous: true },
            ]}
          />
        </>
      }
    >
      {key.data && <KeyNotice apiKey={key.data} />}
      <Section title="Takes tokens">
        <DescriptionList items={rulesOf(policy)} />
      </Section>
      <Section
        title="In the job"
        description={`An access token lives for ${formatDuration(policy.max_ttl_seconds * 1000)} at most, and never longer than the token that it is exchanged for. Then the job exchanges again.`}
      >
        <div className={styles.fields}>
          <CodeSamples label="In the job" samples={jobSamples(policy)} />
          <p className={styles.hint}>
            A refusal is <code>invalid_grant</code> without a reason. The log of the service has it, by the
            request id.
          </p>
        </div>
      </Section>
      <ConfirmDialog
        title="Disable policy"
        name={name}
        action="Disable"
        isOpen={dialog === 'disable'}
        mutation={toggle}
        onConfirm={() => toggle.mutate()}
        onClose={close}
      >
        Its access tokens end within two seconds, and no token is exchanged until it is enabled again.
      </ConfirmDialog>
      <ConfirmDialog
        title="Delete policy"
        name={name}
        action="Delete"
        isOpen={dialog === 'delete'}
        mutation={remove}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        Its access tokens end within two seconds. Jobs that name it get no further ones.
      </ConfirmDialog>
    </Page>
  );
}

function rulesOf(policy: FederationPolicy): readonly (readonly [string, ReactNode])[] {
  const { api_key_hash: hash, jwks, jwks_url: jwksUrl } = policy;
  return [
    ['Issuer', <bdi key="issuer">{policy.issuer}</bdi>],
    ['Audience', <bdi key="audience">{policy.audience}</bdi>],
    ['Subject', <bdi key="subject">{policy.subject}</bdi>],
    ...Object.entries(policy.claims).map(
      ([claim, value]) => [claim, <bdi key={claim}>{String(value)}</bdi>] as const,
    ),
    [
      'Keys of the issuer',
      jwksUrl === null ? `Stored: ${keyIdsOf(jwks).join(', ')}` : <bdi key="keys">{jwksUrl}</bdi>,
    ],
    [
      'Acts as key',
      <Link key="key" to="/keys/$hash" params={{ hash }}>
        <KeyName hash={hash} />
      </Link>,
    ],
    ['Workspace', <WorkspaceName key="workspace" id={policy.workspace_id} />],
    ['Policy id', <Code key="id" text={policy.id} what="policy id" />],
    ['Created', <Time key="created" at={policy.created_at} />],
    ['Last changed', <Time key="updated" at={policy.updated_at} />],
  ];
}

const keyIdsOf = (jwks: FederationPolicy['jwks']): readonly string[] => {
  const keys = (jwks as { readonly keys?: readonly { readonly kid?: string }[] } | null)?.keys ?? [];
  return keys.map(({ kid = '' }) => kid);
};

/** The tokens act as the key: its state is theirs. */
function KeyNotice({ apiKey }: { readonly apiKey: ApiKey }) {
  const now = useNow();
  const link = (
    <Link to="/keys/$hash" params={{ hash: apiKey.hash }}>
      {apiKey.name}
    </Link>
  );
  if (apiKey.disabled || isExpired(apiKey, now))
    return (
      <Notice tone="bad">
        The key {link} {apiKey.disabled ? 'is disabled' : 'has expired'}: no token is exchanged.
      </Notice>
    );
  if (apiKey.limit === null)
    return (
      <Notice tone="warning">
        The key {link} has no limit of its own. Give jobs a key with one: it bounds what they can spend.
      </Notice>
    );
  return null;
}
