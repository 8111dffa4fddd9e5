// The keys that a person has made, their bounds, budget, usage and models, and the commands of coding agents.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isExpired } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { exampleModel, modelChoicesQuery } from '../../api/models';
import { ownGuardrailQuery, ownKeysQuery, reachedModelsQuery } from '../../api/my-keys';
import { ownKeyPolicyQuery } from '../../api/own-keys';
import { refusalsQuery } from '../../api/refusals';
import type { Refusal } from '../../api/refusals';
import type { PersonSession } from '../../api/session';
import { useCan } from '../../app/rights';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { CodeSamples } from '../../components/data/code-samples';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { WorkspaceName } from '../../components/data/workspace-name';
import { useNow } from '../../components/display/clock';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { KeyActionDialog, KeyMenu } from '../keys/key-actions';
import type { KeyAction } from '../keys/key-actions';
import { FirstLimit, KeySpend, KeyState, LastUsed } from '../keys/key-state';
import { agentSamples } from './agent-samples';
import { CreateOwnKeyDialog } from './create-own-key-dialog';
import styles from './my-keys.module.css';
import { OwnBudget } from './own-budget';
import { OwnUsage } from './own-usage';
import { boundsOf } from './policy-words';
import { ReachedModels } from './reached-models';

export function MyKeysPage() {
  const session = useSession();
  if (session.kind === 'person') return <OwnKeys key={session.person.id} session={session} />;
  return (
    <Page title="My keys">
      <Section title="No person is signed in">
        <EmptyState
          title="You are signed in with a key"
          action={
            <Link to="/keys" className={buttonClass()}>
              All keys
            </Link>
          }
        >
          People who sign in see the keys that they have made here.
        </EmptyState>
      </Section>
    </Page>
  );
}

const columnsOf = (
  choose: (action: KeyAction) => void,
  refusals: readonly Refusal[],
): readonly Column<ApiKey>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: (key) => (
      <Link to="/keys/$hash" params={{ hash: key.hash }}>
        <Name text={key.name} />
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    cell: (key) => (
      <KeyState apiKey={key} refusals={refusals.filter(({ api_key_hash: hash }) => hash === key.hash)} />
    ),
  },
  { id: 'spend', header: 'Spend', cell: (key) => <KeySpend apiKey={key} name={key.name} /> },
  { id: 'first', header: 'Stops first', priority: 2, cell: (key) => <FirstLimit apiKey={key} hasReset /> },
  { id: 'used', header: 'Last used', priority: 3, isWhole: true, cell: (key) => <LastUsed apiKey={key} /> },
  {
    id: 'actions',
    header: 'Actions',
    isHeaderHidden: true,
    align: 'end',
    cell: (key) => <KeyMenu apiKey={key} onChoose={choose} />,
  },
];

function OwnKeys({ session }: { readonly session: PersonSession }) {
  const { id: personId } = session.person;
  const workspaceId = useWorkspaceId();
  const can = useCan();
  const now = useNow();
  const [isCreating, setCreating] = useState(false);
  const [action, setAction] = useState<KeyAction | null>(null);
  // Of the key that was created here. It leaves the page with the reader.
  const [secret, setSecret] = useState<string | null>(null);
  const keys = useQuery(ownKeysQuery(workspaceId, personId));
  const policy = useQuery(ownKeyPolicyQuery(workspaceId));
  const { data: guardrail } = useQuery(ownGuardrailQuery(workspaceId, personId));
  const { data: refusals } = useQuery(refusalsQuery({ workspace_id: workspaceId }));
  const { data: reached } = useQuery(reachedModelsQuery(workspaceId, ''));
  const { data: chats } = useQuery(modelChoicesQuery('text'));
  // Of own keys alone.
  const isBounded = !can('keys.change', workspaceId, null);
  const mayCreate = can('keys.change', workspaceId) && (!isBounded || policy.data?.enabled === true);
  const live = keys.data?.filter((key) => !isExpired(key, now)).length ?? 0;
  const isFull = isBounded && policy.data !== undefined && live >= policy.data.max_keys;
  const hashes = can('calls.read', workspaceId, null) ? (keys.data?.map(({ hash }) => hash) ?? []) : null;
  const reachedIds = new Set(reached?.models.map(({ id }) => id));
  const model = exampleModel(
    chats?.filter(({ id }) => reachedIds.size === 0 || reachedIds.has(id)),
    'text',
  );
  const create = mayCreate && !isFull && (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create key
    </Button>
  );
  return (
    <Page
      title="My keys"
      description={
        <>
          Keys that I have made in <WorkspaceName id={workspaceId} />. They end with my access.
        </>
      }
      actions={create}
    >
      {isBounded && (
        <Section title="Bounds" description="Set by the administrators of the workspace.">
          {policy.error && policy.data === undefined ? (
            <ErrorState error={policy.error} onRetry={() => void policy.refetch()} />
          ) : policy.data === undefined ? (
            <Placeholder lines={5} />
          ) : policy.data.enabled ? (
            <div className={styles.bounds}>
              <DescriptionList items={boundsOf(policy.data)} />
              {isFull && (
                <p>
                  You have {live} of {policy.data.max_keys} keys: delete one to make another.
                </p>
              )}
            </div>
          ) : (
            <EmptyState title="Own keys are off in this workspace">
              An administrator allows them, and sets their bounds, on the page of the workspace.
            </EmptyState>
          )}
        </Section>
      )}
      {guardrail?.limit_usd != null && guardrail.reset_interval !== null && (
        <OwnBudget
          workspaceId={workspaceId}
          guardrail={guardrail}
          limit={guardrail.limit_usd}
          interval={guardrail.reset_interval}
          hashes={hashes}
        />
      )}
      <Section title="Keys" isFlush>
        {keys.error && keys.data === undefined ? (
          <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
        ) : (
          <DataTable
            caption="Keys"
            columns={columnsOf(setAction, refusals ?? [])}
            rows={keys.data}
            rowKey={({ hash }) => hash}
            isRowMuted={({ disabled }) => disabled}
            empty={
              <EmptyState title="No key yet" action={create}>
                {mayCreate
                  ? 'Applications and coding agents call models with a key. Its secret is shown once.'
                  : 'You may make none in this workspace.'}
              </EmptyState>
            }
          />
        )}
      </Section>
      <OwnUsage workspaceId={workspaceId} hashes={hashes} />
      <ReachedModels workspaceId={workspaceId} />
      <Section
        title="Coding agents"
        description={
          secret === null
            ? 'The console does not know the key itself: put it where YOUR_KEY stands.'
            : 'With the key that you have just made. It leaves with this page.'
        }
      >
        <CodeSamples label="Coding agents" samples={agentSamples({ key: secret ?? 'YOUR_KEY', model })} />
      </Section>
      {isCreating && (
        <CreateOwnKeyDialog
          workspaceId={workspaceId}
          personId={personId}
          policy={isBounded ? policy.data : undefined}
          model={exampleModel(reached?.models)}
          onClose={() => setCreating(false)}
          onCreated={setSecret}
        />
      )}
      <KeyActionDialog action={action} onClose={() => setAction(null)} />
    </Page>
  );
}
