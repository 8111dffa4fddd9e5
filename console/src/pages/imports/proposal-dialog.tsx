// The decision on one proposal: which list is right, and where it is held, its summary typed by a person.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf } from '../../api/catalogue';
import type { Proposal, TakenProposal } from '../../api/imports';
import { Notice } from '../../components/feedback/states';
import { Form, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { formatMoney } from '../../format';
import { ChangeProblem } from '../models/catalogue/change-problem';
import { priceWord } from '../models/catalogue/documents';
import { isTyped } from './proposals';
import styles from '../models/models.module.css';

interface ProposalDialogProps {
  readonly proposal: Proposal;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly onApply: (entry: TakenProposal) => void;
  readonly onClose: () => void;
}

/** `models.dev: Input $3.00, Output $15.00` */
function choiceText({ prices }: Proposal, list: string): string {
  const values = prices.flatMap(({ member, values: stated }) => {
    const found = stated.find((value) => value.list === list);
    return found === undefined ? [] : [`${priceWord(member)} ${formatMoney(Number(found.value))}`];
  });
  return `${list}: ${values.join(', ')}`;
}

export function ProposalDialog({ proposal, error, isBusy, onApply, onClose }: ProposalDialogProps) {
  const { number, id, holds, summary, choices, provider, upstream_model: upstream, prices } = proposal;
  const [problem, setProblem] = useState<string>();
  const usable = choices.filter((choice) => choice.problem === null);
  const lists = usable.flatMap((choice) => choice.lists.slice(0, choices.length > 1 ? undefined : 1));
  const needsText = isTyped(proposal);
  const submit = (values: FormValues) => {
    const confirmation = values.text('confirmation');
    const isWrong = needsText && confirmation !== summary;
    setProblem(isWrong ? 'This is not the text above. Copy every character of it.' : undefined);
    if (isWrong) return;
    onApply({
      number,
      ...(choices.length > 1 ? { list: values.text('list') } : {}),
      ...(needsText ? { confirmation } : {}),
    });
  };
  return (
    <Dialog title={`Decide on ${id}`} description={`${provider} ${upstream}`} isOpen onClose={onClose}>
      {holds.length > 0 && (
        <Notice tone="warning">
          {holds.map(({ reason }) => (
            <p key={reason}>Held: {reason}</p>
          ))}
        </Notice>
      )}
      <ul className={styles.stack}>
        {prices.map(({ member, own }) => (
          <li key={member}>
            Ours: {priceWord(member)} {own === null ? 'unknown' : formatMoney(Number(own))}
          </li>
        ))}
      </ul>
      <Form fields={['list', 'confirmation']} error={null} onSubmit={submit}>
        <ChangeProblem error={error} />
        {choices.length > 1 ? (
          <SelectField
            name="list"
            label="The list that is right"
            choices={lists.map((list) => ({ value: list, label: choiceText(proposal, list) }))}
            hint="Compare it with the page of the provider."
          />
        ) : (
          lists.map((list) => <p key={list}>{choiceText(proposal, list)}</p>)
        )}
        {needsText && (
          <>
            <p>
              Type this to confirm: <code>{summary}</code>
            </p>
            <TextField
              name="confirmation"
              label="Confirmation"
              spellCheck={false}
              problem={problem}
              onChange={() => setProblem(undefined)}
            />
          </>
        )}
        {prices.some(({ own }) => own !== null) && (
          <p>
            No list is right?{' '}
            <Link to="/models/$author/$slug" params={pathOf(id)}>
              Add a price of your own
            </Link>
            , with its source.
          </p>
        )}
        <SubmitButtons action="Apply" isBusy={isBusy} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
