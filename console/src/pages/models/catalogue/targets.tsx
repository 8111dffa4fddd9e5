// The targets of a moving alias by day.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf } from '../../../api/catalogue';
import type { CatalogueModel, TargetRow } from '../../../api/catalogue';
import { Button } from '../../../components/actions/button';
import { DataTable } from '../../../components/data/data-table';
import type { Column } from '../../../components/data/data-table';
import { Badge } from '../../../components/display/badge';
import { Section } from '../../../components/display/section';
import { Name } from '../../../components/display/values';
import { EmptyState } from '../../../components/feedback/states';
import { showToast } from '../../../components/feedback/toasts';
import { FieldRow, Form, TextField } from '../../../components/form/form';
import { ModelOptions } from '../../../components/form/model-options';
import { Dialog, SubmitButtons } from '../../../components/overlay/dialog';
import { formatUtcDay } from '../../../format';
import { ChangeProblem, wordsOf } from './change-problem';
import { byDay, operatorLayer, stateOf, utcToday } from './documents';
import type { RowState } from './documents';
import { ReasonField } from './price-dialog';
import { useLayerChange } from './use-layer-change';
import styles from '../models.module.css';

interface DatedTarget {
  readonly row: TargetRow;
  readonly state: RowState;
}

const COLUMNS: readonly Column<DatedTarget>[] = [
  {
    id: 'from',
    header: 'From',
    cell: ({ row, state }) => (
      <span className={styles.badges}>
        {formatUtcDay(row.effective_from)}
        {state === 'in force' && <Badge tone="good">In force</Badge>}
        {state === 'later' && <Badge tone="accent">Later</Badge>}
      </span>
    ),
  },
  {
    id: 'target',
    header: 'Stands for',
    cell: ({ row: { target } }) => (
      <Link to="/models/$author/$slug" params={pathOf(target)}>
        <Name text={target} />
      </Link>
    ),
  },
  { id: 'source', header: 'Stated by', priority: 2, cell: ({ row }) => <Name text={row.source} /> },
];

const FIELDS = ['target', 'effective_from', 'source'];
const LIST = 'targets-of-alias';

const inRow = (problem: string): string =>
  problem
    .replace(/^targets\[\d+\][.:] ?/, '')
    .replace(/^targets: there/, 'target: there')
    .replace(/^there are two/, 'effective_from: there are two');

export function Targets({
  entry,
  canChange,
}: {
  readonly entry: CatalogueModel;
  readonly canChange: boolean;
}) {
  const [isAdding, setAdding] = useState(false);
  const [part, setPart] = useState('');
  const rows = entry.model.targets ?? [];
  const today = utcToday();
  const add = useLayerChange(entry, () => {
    setAdding(false);
    showToast({ tone: 'good', text: 'The target was added.' });
  });
  const close = () => {
    add.reset();
    setAdding(false);
  };
  const isPlain = wordsOf(add.error) === undefined;
  return (
    <Section
      title="Targets"
      description="Calls of this name go to the target in force, pay its price, and the answer names it."
      actions={
        canChange && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a target
          </Button>
        )
      }
      isFlush
    >
      <DataTable
        caption="Targets by day"
        columns={COLUMNS}
        rows={byDay(rows).map((row): DatedTarget => ({ row, state: stateOf(row, rows, today) }))}
        rowKey={({ row }) => row.effective_from}
        isRowMuted={({ state }) => state === 'past'}
        empty={<EmptyState title="No target" />}
      />
      <Dialog title="Add a target" isOpen={isAdding} onClose={close}>
        <Form
          fields={FIELDS}
          error={isPlain ? add.error : null}
          onSubmit={(values) => {
            const row = {
              effective_from: values.text('effective_from'),
              source: values.text('source'),
              target: values.text('target'),
            };
            add.save({
              make: (from) => ({ ...operatorLayer(from), targets: [...(from.model.targets ?? []), row] }),
              reason: values.textOrNull('reason'),
              inForm: inRow,
            });
          }}
        >
          {!isPlain && <ChangeProblem error={add.error} saveOverNewest={add.saveOverNewest} />}
          <TextField
            name="target"
            label="Model"
            list={LIST}
            value={part}
            spellCheck={false}
            onChange={({ target }) => setPart(target.value)}
          />
          <ModelOptions id={LIST} kind="text" part={part} />
          <FieldRow>
            <TextField name="effective_from" label="From" type="date" defaultValue={today} />
            <TextField name="source" label="Source" hint="The page or person that states it." dir="auto" />
          </FieldRow>
          <ReasonField />
          <SubmitButtons action="Add target" isBusy={add.isPending} onCancel={close} />
        </Form>
      </Dialog>
    </Section>
  );
}
