// The revisions of a model: each with its author and difference, and the way back.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { revertChange } from '../../../api/catalogue';
import type { CatalogueModel, ModelDocument, Revision } from '../../../api/catalogue';
import { Button } from '../../../components/actions/button';
import { changedMembers } from '../../../components/data/changed-members';
import type { ObjectChange } from '../../../components/data/changed-members';
import { DataTable } from '../../../components/data/data-table';
import type { Column } from '../../../components/data/data-table';
import { Difference } from '../../../components/data/difference';
import { DescriptionList, Section } from '../../../components/display/section';
import { Absent, Name, Time } from '../../../components/display/values';
import { EmptyState } from '../../../components/feedback/states';
import { showToast } from '../../../components/feedback/toasts';
import { ConfirmDialog, Dialog } from '../../../components/overlay/dialog';
import { formatCountOf } from '../../../format';
import { plainError } from './change-problem';
import { LAYER_WORDS, tagOf } from './documents';
import { refreshCatalogue } from './use-layer-change';
import styles from '../models.module.css';

/** Endpoints by their tags and prices by their days, so that one that is added moves no other. */
function byName(document: object | null): object | null {
  if (document === null) return null;
  const { endpoints = [], ...members } = document as ModelDocument;
  const named = endpoints.map((endpoint) => {
    const { prices, ...others } = endpoint;
    const rows = prices?.map(({ effective_from: day, ...row }) => [day, row] as const);
    return [tagOf(endpoint), { ...others, ...(rows && { prices: Object.fromEntries(rows) }) }] as const;
  });
  return { ...members, ...(named.length > 0 && { endpoints: Object.fromEntries(named) }) };
}

const changeOf = ({ before, after }: Revision): ObjectChange => ({
  before: byName(before),
  after: byName(after),
});

function summaryOf(revision: Revision): string {
  if (revision.after === null) return 'Ended the layer';
  if (revision.before === null) return 'Began the layer';
  return formatCountOf(changedMembers(changeOf(revision)).length, 'member');
}

function columnsOf(
  show: (revision: Revision) => void,
  revert: ((revision: Revision) => void) | null,
): readonly Column<Revision>[] {
  return [
    {
      id: 'when',
      header: 'Changed',
      cell: (revision) => (
        <span className={styles.nameCell}>
          <Time at={revision.created_at} />
          <span className={styles.muted}>Revision {revision.version}</span>
        </span>
      ),
    },
    {
      id: 'what',
      header: 'Change',
      cell: (revision) => (
        <Button
          variant="ghost"
          aria-label={`Show revision ${revision.version}`}
          onClick={() => show(revision)}
        >
          {summaryOf(revision)}
        </Button>
      ),
    },
    { id: 'layer', header: 'Layer', priority: 2, cell: ({ layer }) => LAYER_WORDS[layer] },
    {
      id: 'who',
      header: 'Key',
      priority: 2,
      cell: ({ actor }) => (actor === null ? <Absent /> : <code className={styles.id}>{actor}</code>),
    },
    {
      id: 'why',
      header: 'Reason',
      priority: 3,
      cell: ({ reason }) => (reason === null ? <Absent /> : <Name text={reason} />),
    },
    ...(revert === null
      ? []
      : [
          {
            id: 'revert',
            header: 'Revert',
            isHeaderHidden: true,
            align: 'end',
            cell: (revision: Revision) => (
              <Button aria-label={`Revert revision ${revision.version}`} onClick={() => revert(revision)}>
                Revert
              </Button>
            ),
          } as const,
        ]),
  ];
}

export function History({
  entry,
  canChange,
}: {
  readonly entry: CatalogueModel;
  readonly canChange: boolean;
}) {
  const client = useQueryClient();
  const [shown, setShown] = useState<Revision | null>(null);
  const [reverted, setReverted] = useState<Revision | null>(null);
  const revert = useMutation({
    mutationFn: ({ version }: Revision) => revertChange(version),
    onSuccess: async ({ version }) => {
      setReverted(null);
      showToast({ tone: 'good', text: `Revision ${version} has the content before that change.` });
      await refreshCatalogue(client);
    },
  });
  return (
    <Section title="History" description="The newest 50 changes of the stored layers." isFlush>
      <DataTable
        caption="Changes of the model"
        columns={columnsOf(setShown, canChange ? setReverted : null)}
        rows={entry.revisions}
        rowKey={({ version }) => String(version)}
        empty={
          <EmptyState title="Never changed here">
            The model is as this version of the service brings it along, or as CATALOGUE_FILE defines it.
          </EmptyState>
        }
      />
      <Dialog
        title={shown === null ? '' : `Revision ${shown.version}`}
        description={shown?.reason ?? undefined}
        isOpen={shown !== null}
        onClose={() => setShown(null)}
      >
        {shown !== null && (
          <>
            {/* As a part of the column of the dialog it would be cut to the height of the window. */}
            <div>
              <DescriptionList
                items={[
                  ['When', <Time key="when" at={shown.created_at} />],
                  ['Key', shown.actor === null ? <Absent key="who" /> : <code key="who">{shown.actor}</code>],
                  ['Layer', LAYER_WORDS[shown.layer]],
                ]}
              />
            </div>
            <Difference change={changeOf(shown)} />
          </>
        )}
      </Dialog>
      <ConfirmDialog
        title="Revert change"
        name={reverted === null ? '' : `Revision ${reverted.version} of ${entry.name ?? entry.id}`}
        action="Revert"
        isOpen={reverted !== null}
        mutation={{ ...revert, error: revert.error && (plainError(revert.error) as Error) }}
        onConfirm={() => {
          if (reverted !== null) revert.mutate(reverted);
        }}
        onClose={() => setReverted(null)}
      >
        A new revision gets the content before this change. Later changes of the same layer are undone as
        well.
      </ConfirmDialog>
    </Section>
  );
}
