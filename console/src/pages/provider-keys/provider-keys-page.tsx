// The workspace's own keys for providers, in the order in which calls try them.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  deleteProviderKey,
  loadProviderKeys,
  PROVIDER_KEYS,
  updateProviderKey,
} from '../../api/provider-keys';
import type { ProviderKey } from '../../api/provider-keys';
import { providersQuery } from '../../api/providers';
import { messageOf } from '../../api/problems';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState, Notice } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { ProviderTestButton } from '../../components/provider/provider-test';
import { formatCountOf } from '../../format';
import { ProviderKeyDialog } from './provider-key-dialog';
import styles from './provider-keys.module.css';

const titleOf = ({ name, label }: ProviderKey): string => name ?? label;

interface KeyActions {
  readonly canChange: boolean;
  readonly canTest: boolean;
  /** The name of a provider. */
  readonly nameOf: (slug: string) => string;
  /** "1st of 2": among the keys of the provider. */
  readonly orderOf: (key: ProviderKey) => string;
  readonly edit: (key: ProviderKey) => void;
  readonly toggle: (key: ProviderKey) => void;
  readonly remove: (key: ProviderKey) => void;
}

function columnsOf(actions: KeyActions): readonly Column<ProviderKey>[] {
  const { canChange, canTest, nameOf, orderOf, edit, toggle, remove } = actions;
  return [
    {
      id: 'name',
      header: 'Name',
      cell: (key) => (
        <span className={styles.nameCell}>
          {canChange ? (
            <button type="button" className={styles.name} onClick={() => edit(key)}>
              <Name text={titleOf(key)} />
            </button>
          ) : (
            <Name text={titleOf(key)} />
          )}
          <code className={styles.label}>{key.label}</code>
        </span>
      ),
    },
    {
      id: 'provider',
      header: 'Provider',
      cell: ({ provider }) => (
        <Link to="/models" search={{ provider }}>
          {nameOf(provider)}
        </Link>
      ),
    },
    { id: 'use', header: 'Use', priority: 2, cell: (key) => <Use providerKey={key} /> },
    { id: 'order', header: 'Tried', priority: 3, cell: (key) => orderOf(key) },
    {
      id: 'serves',
      header: 'Serves',
      priority: 3,
      cell: ({ allowed_models: models, allowed_api_key_hashes: hashes }) => (
        <span className={styles.serves}>
          <span title={models?.join(', ')}>{countOf(models, 'model')}</span>
          <span>{countOf(hashes, 'key')}</span>
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'end',
      cell: (key) => (
        <span className={styles.actions}>
          {canTest && <ProviderTestButton slug={key.provider} name={titleOf(key)} byokId={key.id} />}
          {canChange && (
            <ActionMenu
              label={`Actions for ${titleOf(key)}`}
              actions={[
                { label: 'Edit', onSelect: () => edit(key) },
                { label: key.disabled ? 'Enable' : 'Disable', onSelect: () => toggle(key) },
                { label: 'Delete', onSelect: () => remove(key), isDangerous: true },
              ]}
            />
          )}
        </span>
      ),
    },
  ];
}

export function ProviderKeysPage() {
  const workspaceId = useWorkspaceId();
  const client = useQueryClient();
  const providers = useQuery(providersQuery);
  const [edited, setEdited] = useState<ProviderKey | 'new' | null>(null);
  const [removed, setRemoved] = useState<ProviderKey | null>(null);
  const pages = useHeldPages({
    queryKey: [...PROVIDER_KEYS, 'list', workspaceId],
    load: (cursor, signal) => loadProviderKeys(workspaceId, cursor, signal),
    rowKey: ({ id }: ProviderKey) => id,
    isLive: false,
  });
  const refresh = () => client.invalidateQueries({ queryKey: PROVIDER_KEYS });
  const toggle = useMutation({
    mutationFn: ({ id, disabled }: ProviderKey) => updateProviderKey(id, { disabled: !disabled }),
    onSuccess: refresh,
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  const remove = useMutation({
    mutationFn: ({ id }: ProviderKey) => deleteProviderKey(id),
    onSuccess: async () => {
      setRemoved(null);
      await refresh();
    },
  });
  const nameOf = (slug: string) => providers.data?.find((provider) => provider.slug === slug)?.name ?? slug;
  const orderOf = ({ id, provider }: ProviderKey): string => {
    const rivals = (pages.rows ?? []).filter((key) => key.provider === provider && !key.disabled);
    const place = rivals.findIndex((key) => key.id === id) + 1;
    if (place === 0) return '–';
    return rivals.length === 1 ? 'Alone' : `${place} of ${rivals.length}`;
  };
  const can = useCan();
  const canChange = can('provider_keys.change', workspaceId);
  const columns = columnsOf({
    canChange,
    canTest: can('providers.test', workspaceId),
    nameOf,
    orderOf,
    edit: setEdited,
    toggle: toggle.mutate,
    remove: setRemoved,
  });
  const create = canChange && providers.data && (
    <Button variant="primary" icon="plus" onClick={() => setEdited('new')}>
      Add provider key
    </Button>
  );
  return (
    <Page
      title="Provider keys"
      description="Your own keys for providers. Calls try them in their order; the provider bills you, not this service."
      actions={create}
    >
      {providers.error !== null && providers.data === undefined && (
        <Notice tone="bad">
          The providers could not be loaded: {messageOf(providers.error)}{' '}
          <Button icon="refresh" onClick={() => void providers.refetch()}>
            Try again
          </Button>
        </Notice>
      )}
      <Section title="Provider keys of the workspace" isFlush>
        {pages.error && pages.rows === undefined ? (
          <ErrorState error={pages.error} onRetry={pages.refresh} />
        ) : (
          <DataTable
            caption="Provider keys"
            columns={columns}
            rows={pages.rows}
            rowKey={({ id }) => id}
            isRowMuted={({ disabled }) => disabled}
            empty={
              <EmptyState title="No provider key yet" action={create}>
                Calls use the keys that the service was started with. With a key of your own you pay the
                provider directly.
              </EmptyState>
            }
            footer={<ListFoot pages={pages} noun="provider keys" />}
          />
        )}
      </Section>
      {edited !== null && (
        <ProviderKeyDialog
          providerKey={edited === 'new' ? undefined : edited}
          workspaceId={workspaceId}
          providers={providers.data ?? []}
          onClose={() => setEdited(null)}
          onSaved={refresh}
        />
      )}
      <ConfirmDialog
        title="Delete provider key"
        name={removed === null ? '' : titleOf(removed)}
        action="Delete"
        isOpen={removed !== null}
        mutation={remove}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed);
        }}
        onClose={() => setRemoved(null)}
      >
        Calls that it serves use the next key, or the one that the service was started with.
      </ConfirmDialog>
    </Page>
  );
}

function countOf(allowed: readonly string[] | null, noun: string): string {
  return allowed === null ? `Every ${noun}` : formatCountOf(allowed.length, noun);
}

function Use({ providerKey }: { readonly providerKey: ProviderKey }) {
  if (providerKey.disabled) return <Badge tone="neutral">Disabled</Badge>;
  if (providerKey.is_required) return <Badge tone="accent">Only this key</Badge>;
  if (providerKey.is_fallback) return <Badge tone="warning">After the service’s key</Badge>;
  return <Badge tone="good">Before the service’s key</Badge>;
}
