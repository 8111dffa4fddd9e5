// Changes of a model as a whole: its form, disabling it, a copy, and the end of the operator's layer.
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf } from '../../../api/catalogue';
import type { CatalogueModel, ModelDocument } from '../../../api/catalogue';
import { Button, buttonClass } from '../../../components/actions/button';
import { showToast } from '../../../components/feedback/toasts';
import { ActionMenu } from '../../../components/overlay/action-menu';
import { ConfirmDialog } from '../../../components/overlay/dialog';
import { messageOf } from '../../../api/problems';
import { plainError } from './change-problem';
import { operatorLayer } from './documents';
import { asItIs, useLayerChange } from './use-layer-change';

type Question = 'disable' | 'undo';

const isDisabledBelow = ({ documents }: CatalogueModel): boolean =>
  documents.some(({ name, model }) => name !== 'operator' && model['disabled'] === true);

function withDisabled(entry: CatalogueModel, isDisabled: boolean): ModelDocument {
  const { disabled: _former, ...layer } = operatorLayer(entry);
  return isDisabled === isDisabledBelow(entry) ? layer : { ...layer, disabled: isDisabled };
}

export function ModelActions({ entry }: { readonly entry: CatalogueModel }) {
  const [question, setQuestion] = useState<Question | null>(null);
  const navigate = useNavigate();
  const name = entry.name ?? entry.id;
  const isOwn = entry.layers.every((layer) => layer === 'operator');
  const disable = useLayerChange(entry, () => {
    setQuestion(null);
    showToast({ tone: 'good', text: `${name} is disabled.` });
  });
  const enable = useLayerChange(entry, () => showToast({ tone: 'good', text: `${name} is enabled.` }));
  const undo = useLayerChange(entry, async () => {
    setQuestion(null);
    showToast({
      tone: 'good',
      text: isOwn ? `${name} was removed.` : `${name} is as it was shipped or imported.`,
    });
    if (isOwn) await navigate({ to: '/models', replace: true });
  });
  return (
    <>
      {entry.kind !== 'moving_aliases' && (
        <Link to="/models/$author/$slug/edit" params={pathOf(entry.id)} className={buttonClass('primary')}>
          Edit
        </Link>
      )}
      {entry.disabled ? (
        <Button
          isBusy={enable.isPending}
          onClick={() =>
            enable.save({ make: (from) => withDisabled(from, false), reason: null, inForm: asItIs })
          }
        >
          Enable
        </Button>
      ) : (
        <Button onClick={() => setQuestion('disable')}>Disable</Button>
      )}
      <ActionMenu
        label={`Further actions for ${name}`}
        actions={[
          ...(entry.kind === 'moving_aliases'
            ? []
            : [
                {
                  label: 'Copy to a new model',
                  onSelect: () => void navigate({ to: '/models/new', search: { copy: entry.id } }),
                },
              ]),
          ...(entry.layers.includes('operator')
            ? [
                {
                  label: isOwn ? 'Remove' : 'Undo our changes',
                  onSelect: () => setQuestion('undo'),
                  isDangerous: true,
                },
              ]
            : []),
        ]}
      />
      {enable.error !== null && <EnableProblem error={enable.error} />}
      <ConfirmDialog
        title="Disable model"
        name={name}
        action="Disable"
        isOpen={question === 'disable'}
        mutation={{ ...disable, error: disable.error && (plainError(disable.error) as Error) }}
        onConfirm={() =>
          disable.save({ make: (from) => withDisabled(from, true), reason: null, inForm: asItIs })
        }
        onClose={() => setQuestion(null)}
      >
        Calls of it answer 404 and say that the operator has disabled it, and no list for callers shows it.
        Enable brings it back.
      </ConfirmDialog>
      <ConfirmDialog
        title={isOwn ? 'Remove model' : 'Undo our changes'}
        name={name}
        action={isOwn ? 'Remove' : 'Undo'}
        isOpen={question === 'undo'}
        mutation={{ ...undo, error: undo.error && (plainError(undo.error) as Error) }}
        onConfirm={() => undo.save({ make: ({ id }) => ({ id }), reason: null, inForm: asItIs })}
        onClose={() => setQuestion(null)}
      >
        {isOwn
          ? 'Calls of it answer 404. Its history stays, and a revert brings it back.'
          : 'All members that were changed here, prices as well, are as shipped or imported again. The history stays, and a revert brings them back.'}
      </ConfirmDialog>
    </>
  );
}

function EnableProblem({ error }: { readonly error: unknown }) {
  return <span role="alert">{messageOf(plainError(error))}</span>;
}
