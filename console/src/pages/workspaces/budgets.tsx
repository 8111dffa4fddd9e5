// The budgets of a workspace, what is spent of each, and what they refuse now.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { budgetsQuery } from '../../api/budgets';
import type { Budget } from '../../api/budgets';
import { deleteBudget, setBudget } from '../../api/workspaces';
import type { BudgetInterval, Workspace } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { Button } from '../../components/actions/button';
import { CoveringAlerts } from '../../components/data/covering-alerts';
import { Badge } from '../../components/display/badge';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { SpendBar } from '../../components/display/spend-bar';
import { Time } from '../../components/display/values';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField, SwitchField, TextField } from '../../components/form/form';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog, Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { nextStart } from './budget-windows';
import styles from './workspaces.module.css';

const NAMES: Readonly<Record<BudgetInterval, string>> = {
  daily: 'Daily',
  weekly: 'Weekly',
  monthly: 'Monthly',
  lifetime: 'Lifetime',
};
const INTERVALS = Object.keys(NAMES) as BudgetInterval[];

const intervalOf = ({ reset_interval: interval }: Budget): BudgetInterval => interval ?? 'lifetime';

interface BudgetsProps {
  readonly workspace: Workspace;
  /** False: they are not loaded again. */
  readonly isLive: boolean;
}

export function Budgets({ workspace, isLive }: BudgetsProps) {
  const { id } = workspace;
  const canChange = useCan()('budgets.change', id);
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({ ...budgetsQuery(id), enabled: isLive });
  const [edited, setEdited] = useState<EditedBudget | null>(null);
  const [removed, setRemoved] = useState<BudgetInterval | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: budgetsQuery(id).queryKey });
  const remove = useMutation({
    mutationFn: (interval: BudgetInterval) => deleteBudget(id, interval),
    onSuccess: async () => {
      setRemoved(null);
      await refresh();
    },
  });
  const budgets = [...(data?.data ?? [])].sort(
    (left, right) => INTERVALS.indexOf(intervalOf(left)) - INTERVALS.indexOf(intervalOf(right)),
  );
  const free = INTERVALS.filter((interval) => !budgets.some((budget) => intervalOf(budget) === interval));
  const includesByok = data?.include_byok_in_budgets ?? false;
  const edit = (interval: BudgetInterval | 'new', limit?: number) =>
    setEdited({ interval, free, limit, includesByok });
  // A new budget takes the place of one that has not loaded yet.
  const add = canChange && data !== undefined && free.length > 0 && (
    <Button icon="plus" onClick={() => edit('new')}>
      Add budget
    </Button>
  );
  return (
    <Section
      title="Budgets"
      description={
        includesByok
          ? 'Calls through own provider keys count.'
          : 'Calls through own provider keys do not count.'
      }
      actions={add}
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Placeholder />
      ) : budgets.length === 0 ? (
        <EmptyState title="No budget">
          Only the limits of keys and the credits of the account stop calls. A budget stops all keys of the
          workspace together.
        </EmptyState>
      ) : (
        <ul className={styles.budgets}>
          {budgets.map((budget) => (
            <BudgetLine
              key={budget.id}
              budget={budget}
              canChange={canChange}
              onEdit={() => edit(intervalOf(budget), budget.limit_usd)}
              onRemove={() => setRemoved(intervalOf(budget))}
            />
          ))}
        </ul>
      )}
      {budgets.length > 0 && (
        <div className={styles.budgetAlerts}>
          Alerts <CoveringAlerts cover="workspace_budgets" workspaceId={id} />
        </div>
      )}
      {edited !== null && (
        <BudgetDialog id={id} edited={edited} onClose={() => setEdited(null)} onSaved={refresh} />
      )}
      <ConfirmDialog
        title="Delete budget"
        name={removed === null ? '' : `${NAMES[removed]} budget of ${workspace.name}`}
        action="Delete"
        isOpen={removed !== null}
        mutation={remove}
        onConfirm={() => {
          if (removed !== null) remove.mutate(removed);
        }}
        onClose={() => setRemoved(null)}
      >
        Calls that it refuses now are accepted again, unless another limit stops them.
      </ConfirmDialog>
    </Section>
  );
}

interface BudgetLineProps {
  readonly budget: Budget;
  readonly canChange: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function BudgetLine({ budget, canChange, onEdit, onRemove }: BudgetLineProps) {
  const interval = intervalOf(budget);
  const { limit_usd: limit, spend_usd: spend } = budget;
  const resetsAt = nextStart(interval, useNow());
  const isReached = spend >= limit;
  return (
    <li className={styles.budget}>
      <span className={styles.budgetName}>
        {NAMES[interval]} {isReached && <Badge tone="bad">Reached</Badge>}
      </span>
      <span className={styles.budgetSpend}>
        <SpendBar label={`Spend of the ${interval} budget`} spend={spend} limit={limit} />
      </span>
      <span className={styles.budgetReset}>
        {resetsAt === null ? (
          'Never resets'
        ) : (
          <>
            Resets <Time at={resetsAt} isRelative />
          </>
        )}
      </span>
      {canChange && (
        <ActionMenu
          label={`Actions for the ${interval} budget`}
          actions={[
            { label: 'Change', onSelect: onEdit },
            { label: 'Delete', onSelect: onRemove, isDangerous: true },
          ]}
        />
      )}
      {isReached && (
        <div className={styles.budgetNotice}>
          <Notice tone="bad">
            Calls with any key of this workspace are refused with 403{' '}
            {resetsAt === null ? (
              'until the budget is raised.'
            ) : (
              <>
                until <Time at={resetsAt} />, or until the budget is raised.
              </>
            )}
          </Notice>
        </div>
      )}
    </li>
  );
}

/** The form keeps the values that it began with, though budgets are loaded again while it is open. */
interface EditedBudget {
  readonly interval: BudgetInterval | 'new';
  readonly free: readonly BudgetInterval[];
  readonly limit: number | undefined;
  readonly includesByok: boolean;
}

interface BudgetDialogProps {
  readonly id: string;
  readonly edited: EditedBudget;
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

interface SavedBudget {
  readonly interval: BudgetInterval;
  readonly amount: number;
  /** Undefined: as it is. */
  readonly byok: boolean | undefined;
}

function BudgetDialog({ id, edited, onClose, onSaved }: BudgetDialogProps) {
  const { interval, free, limit, includesByok } = edited;
  const save = useMutation({
    mutationFn: (saved: SavedBudget) =>
      setBudget(id, saved.interval, { limit_usd: saved.amount, include_byok_in_budgets: saved.byok }),
    onSuccess: async (_result, saved) => {
      onClose();
      showToast({ tone: 'good', text: `${NAMES[saved.interval]} budget saved.` });
      await onSaved();
    },
  });
  return (
    <Dialog
      title={interval === 'new' ? 'Add budget' : `${NAMES[interval]} budget`}
      description="Budgets reset at 00:00 UTC, weeks begin on Monday. A wider interval needs a greater budget."
      isOpen
      onClose={onClose}
    >
      <Form
        fields={['limit_usd']}
        error={save.error}
        onSubmit={(values) => {
          const byok = values.flag('include_byok_in_budgets');
          save.mutate({
            interval: interval === 'new' ? (values.text('interval') as BudgetInterval) : interval,
            amount: values.numberOrNull('limit_usd') ?? 0,
            byok: byok === includesByok ? undefined : byok,
          });
        }}
      >
        {interval === 'new' && (
          <SelectField
            name="interval"
            label="Interval"
            choices={free.map((value) => ({ value, label: NAMES[value] }))}
          />
        )}
        <TextField
          name="limit_usd"
          label="Budget"
          prefix="USD"
          inputMode="decimal"
          defaultValue={limit}
          placeholder="100"
        />
        <SwitchField
          name="include_byok_in_budgets"
          label="Count calls through own provider keys"
          defaultChecked={includesByok}
          hint="For all budgets of the workspace."
        />
        <SubmitButtons action="Save" isBusy={save.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
