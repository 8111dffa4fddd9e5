// One import: its proposals by group, each with our price and that of every list, to apply or to leave.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { applyProposals, discardImport, importQuery } from '../../api/imports';
import type { CatalogueImport, Proposal, TakenProposal } from '../../api/imports';
import { useSession } from '../../app/workspace';
import { Button } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { formatCountOf } from '../../format';
import { NOT_AN_OPERATOR, plainError } from '../models/catalogue/change-problem';
import { refreshCatalogue } from '../models/catalogue/use-layer-change';
import { ProposalDialog } from './proposal-dialog';
import { ProposalGroup } from './proposal-group';
import { GROUPS, isSelectedAtFirst, isTakenTogether } from './proposals';
import { StateBadge } from './state-badge';

const route = getRouteApi('/app/management/imports/$id');

export function ImportPage() {
  const { id } = route.useParams();
  const { can_change_catalogue: canChange } = useSession();
  const { data, error, refetch } = useQuery({ ...importQuery(id), enabled: canChange });
  if (data !== undefined) return <ImportView key={id} found={data} />;
  return (
    <Page title="Price import">
      {!canChange ? (
        <Notice tone="info">{NOT_AN_OPERATOR}</Notice>
      ) : error === null ? (
        <Placeholder lines={12} />
      ) : (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="import"
          back={<Link to="/imports">All imports</Link>}
        />
      )}
    </Page>
  );
}

function ImportView({ found }: { readonly found: CatalogueImport }) {
  const { id, lists, state, proposals, applied_count: applied } = found;
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [selected, setSelected] = useState<ReadonlySet<number>>(
    () => new Set(proposals.filter(isSelectedAtFirst).map(({ number }) => number)),
  );
  const [asked, setAsked] = useState<Proposal | null>(null);
  const [dialog, setDialog] = useState<'apply' | 'discard' | null>(null);
  const close = () => setDialog(null);
  const apply = useMutation({
    mutationFn: (entries: readonly TakenProposal[]) => applyProposals(id, entries),
    onSuccess: async (after, entries) => {
      setAsked(null);
      close();
      client.setQueryData(importQuery(id).queryKey, after);
      const count = formatCountOf(entries.length, 'proposal');
      showToast({ tone: 'good', text: `${count} applied. Every replica has the prices within 2 seconds.` });
      await refreshCatalogue(client);
    },
  });
  const discard = useMutation({
    mutationFn: () => discardImport(id),
    onSuccess: async () => {
      showToast({ tone: 'good', text: 'The import was discarded. Applied prices hold.' });
      await navigate({ to: '/imports', replace: true });
      await refreshCatalogue(client);
    },
  });
  const isOpen = state !== 'discarded';
  const taken = proposals.filter((proposal) => selected.has(proposal.number) && isTakenTogether(proposal));
  const toggle = (numbers: readonly number[], isOn: boolean) => {
    const after = new Set(selected);
    for (const number of numbers) {
      if (isOn) after.add(number);
      else after.delete(number);
    }
    setSelected(after);
  };
  const ask = (proposal: Proposal) => {
    apply.reset();
    setAsked(proposal);
  };
  return (
    <Page
      title="Price import"
      description={
        <>
          <StateBadge state={state} applied={applied} /> {lists.join('; ')}, posted{' '}
          <Time at={found.created_at} isRelative isPast />. Prices are USD for a million tokens.{' '}
          <Link to="/imports">All imports</Link>
        </>
      }
      actions={
        isOpen && (
          <>
            <Button onClick={() => setDialog('discard')}>Discard</Button>
            <Button
              variant="primary"
              aria-disabled={taken.length === 0}
              onClick={() => {
                apply.reset();
                setDialog('apply');
              }}
            >
              {taken.length === 0 ? 'Nothing selected' : `Apply ${formatCountOf(taken.length, 'proposal')}`}
            </Button>
          </>
        )
      }
    >
      {!isOpen && <Notice tone="info">This import is discarded: no proposal of it can be applied.</Notice>}
      {proposals.length === 0 && <Notice tone="info">The lists propose nothing.</Notice>}
      {GROUPS.map(([group, title, meaning]) => (
        <ProposalGroup
          key={group}
          title={title}
          meaning={meaning}
          proposals={proposals.filter((proposal) => proposal.group === group)}
          selected={selected}
          isOpen={isOpen}
          onToggle={toggle}
          onAsk={ask}
        />
      ))}
      {asked !== null && (
        <ProposalDialog
          proposal={asked}
          error={apply.error}
          isBusy={apply.isPending}
          onApply={(entry) => apply.mutate([entry])}
          onClose={() => setAsked(null)}
        />
      )}
      <ConfirmDialog
        title="Apply proposals"
        name={formatCountOf(taken.length, 'proposal')}
        action="Apply"
        isOpen={dialog === 'apply'}
        mutation={{ ...apply, error: apply.error && (plainError(apply.error) as Error) }}
        onConfirm={() => apply.mutate(taken.map(({ number }) => ({ number })))}
        onClose={close}
      >
        All of them or none: each model gets one revision of the imported layer. Calls that begin from now on
        pay these prices. A revert in the history of a model takes its change back.
      </ConfirmDialog>
      <ConfirmDialog
        title="Discard import"
        name={lists.join('; ')}
        action="Discard"
        isOpen={dialog === 'discard'}
        mutation={discard}
        onConfirm={() => discard.mutate()}
        onClose={close}
      >
        Its open proposals can no longer be applied. Prices that are applied hold.
      </ConfirmDialog>
    </Page>
  );
}
