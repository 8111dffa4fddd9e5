// The form of a model and its endpoints. A save stores only the members that were changed here.
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { CatalogueKind, ModelDocument, PriceRow } from '../../../api/catalogue';
import type { Provider } from '../../../api/providers';
import { useLeaveQuestion } from '../../../app/page-hold';
import { Button } from '../../../components/actions/button';
import { Section } from '../../../components/display/section';
import { FieldRow, Form, TextAreaField, TextField } from '../../../components/form/form';
import type { FormValues } from '../../../components/form/form';
import { DialogButtons } from '../../../components/overlay/dialog';
import { LeaveDialog } from '../../../components/overlay/leave-dialog';
import { ChangeProblem, wordsOf } from './change-problem';
import { EndpointFields, MemberField } from './endpoint-fields';
import { endpointFields, fieldName, furtherOfModel, headFields, tagOfDraft } from './model-fields';
import type { EndpointDraft } from './model-fields';
import { FURTHER, problemOfObject } from './price-fields';
import { PriceDialog, ReasonField } from './price-dialog';
import styles from '../models.module.css';

export interface ModelFormState {
  readonly drafts: readonly EndpointDraft[];
  /** Tags of endpoints whose changes end. */
  readonly removed: readonly string[];
}

interface ModelFormProps {
  readonly title: string;
  readonly kind: CatalogueKind;
  readonly isNew: boolean;
  /** As the form begins. */
  readonly model: ModelDocument;
  readonly begun: readonly EndpointDraft[];
  readonly providers: readonly Provider[];
  /** The button that takes an endpoint of the model out of the operator's layer; null: the layer does not have it. */
  readonly removalLabelOf: (tag: string) => string | null;
  readonly error: unknown;
  readonly saveOverNewest?: (() => void) | undefined;
  readonly isBusy: boolean;
  readonly action: string;
  readonly cancel: ReactNode;
  readonly onSubmit: (values: FormValues, initial: FormValues, state: ModelFormState) => void;
}

interface OwnProblems {
  readonly further: Readonly<Record<string, string | undefined>>;
  readonly tags: readonly number[];
}

const NO_PROBLEMS: OwnProblems = { further: {}, tags: [] };

/** Found before anything is sent: no JSON, and two endpoints of one tag. */
function ownProblems(values: FormValues, drafts: readonly EndpointDraft[]): OwnProblems {
  const names = [FURTHER, ...drafts.map((draft) => fieldName(draft, FURTHER))];
  const tags = drafts.map((draft) => tagOfDraft(draft, values));
  return {
    further: Object.fromEntries(names.map((name) => [name, problemOfObject(values.text(name))])),
    tags: drafts
      .filter((draft, index) => draft.tag === null && tags.indexOf(tags[index] ?? '') !== index)
      .map(({ key }) => key),
  };
}

export function ModelForm(props: ModelFormProps) {
  const { title, kind, isNew, providers, removalLabelOf, error, isBusy, action, cancel, onSubmit } = props;
  // It may be loaded again while the form is open, which keeps what it began with.
  const [model] = useState(props.model);
  const [drafts, setDrafts] = useState(props.begun);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [pricedKey, setPricedKey] = useState<number | null>(null);
  const [priceProblem, setPriceProblem] = useState<unknown>(null);
  const [isTouched, setTouched] = useState(false);
  const question = useLeaveQuestion(isTouched);
  const fields = [
    'id',
    'description',
    FURTHER,
    ...headFields(kind, isNew).map(({ name }) => name),
    ...drafts.flatMap((draft) =>
      ['provider', 'tag', FURTHER, ...endpointFields(kind).map(({ name }) => name)].map((name) =>
        fieldName(draft, name),
      ),
    ),
  ];
  const words = wordsOf(error);
  const change = (key: number, prices: readonly PriceRow[]) => {
    setTouched(true);
    setDrafts(drafts.map((draft) => (draft.key === key ? { ...draft, prices } : draft)));
  };
  const add = () => {
    setTouched(true);
    const key = Math.max(-1, ...drafts.map((draft) => draft.key)) + 1;
    setDrafts([...drafts, { key, tag: null, begun: { provider: providers[0]?.slug ?? '' }, prices: [] }]);
  };
  const removalOf = (draft: EndpointDraft) => {
    const label = draft.tag === null ? 'Remove endpoint' : removalLabelOf(draft.tag);
    if (label === null) return null;
    const remove = () => {
      setTouched(true);
      if (draft.tag !== null) setRemoved([...removed, draft.tag]);
      setDrafts(drafts.filter(({ key }) => key !== draft.key));
    };
    return { label, remove };
  };
  const submit = (values: FormValues, initial: FormValues) => {
    const found = ownProblems(values, drafts);
    setProblems(found);
    if (found.tags.length > 0 || Object.values(found.further).some((problem) => problem !== undefined))
      return;
    onSubmit(values, initial, { drafts, removed });
  };
  const priced = drafts.find(({ key }) => key === pricedKey);
  const addPrice = (draft: EndpointDraft, row: PriceRow) => {
    const problem = problemOfRow(row, draft.prices);
    setPriceProblem(problem && new Error(problem));
    if (problem !== null) return;
    change(draft.key, [...draft.prices, row]);
    setPricedKey(null);
  };
  return (
    <div
      onChange={() => {
        setTouched(true);
        // A form with a field that is wrong is not sent.
        setProblems(NO_PROBLEMS);
      }}
    >
      <Form fields={fields} error={words === undefined ? error : null} onSubmit={submit}>
        {words !== undefined && <ChangeProblem error={error} saveOverNewest={props.saveOverNewest} />}
        <Section
          title="Model"
          description={
            isNew
              ? undefined
              : 'A field that is emptied is as shipped or imported again. Prices have a list of their own on the page of the model.'
          }
        >
          <div className={styles.stack}>
            {isNew && (
              <TextField
                name="id"
                label="Id"
                placeholder="acme/chat-2"
                spellCheck={false}
                hint="Calls use it: vendor/model."
              />
            )}
            <FieldRow>
              {headFields(kind, isNew).map((field) => (
                <MemberField key={field.name} field={field} name={field.name} value={model[field.name]} />
              ))}
            </FieldRow>
            <TextAreaField
              name="description"
              label="Description"
              rows={2}
              defaultValue={model['description'] as string | undefined}
              dir="auto"
            />
            <TextAreaField
              name={FURTHER}
              label="Further members"
              isCode
              rows={3}
              defaultValue={furtherOfModel(model, kind)}
              problem={problems.further[FURTHER]}
              spellCheck={false}
              hint="JSON, by docs/catalogue.example.yaml: aliases, canonical_slug and others."
            />
          </div>
        </Section>
        {drafts.map((draft) => (
          <EndpointFields
            key={draft.key}
            draft={draft}
            kind={kind}
            providers={providers}
            furtherProblem={problems.further[fieldName(draft, FURTHER)]}
            tagProblem={
              problems.tags.includes(draft.key)
                ? 'Another endpoint has this tag. Give the endpoints of one provider different tags.'
                : undefined
            }
            onPrices={(rows) => change(draft.key, rows)}
            onAddPrice={() => setPricedKey(draft.key)}
            removal={removalOf(draft)}
          />
        ))}
        <div>
          <Button icon="plus" onClick={add}>
            Add endpoint
          </Button>
        </div>
        <ReasonField />
        <DialogButtons>
          {cancel}
          <Button type="submit" variant="primary" isBusy={isBusy}>
            {action}
          </Button>
        </DialogButtons>
      </Form>
      {/* Outside of the form: its own form must not submit this one. */}
      {priced && (
        <PriceDialog
          kind={kind}
          endpoints={[{ tag: priced.tag ?? '', rows: priced.prices }]}
          error={priceProblem}
          isBusy={false}
          action="Add to the form"
          hasReason={false}
          onAdd={(_tag, row) => addPrice(priced, row)}
          onClose={() => {
            setPriceProblem(null);
            setPricedKey(null);
          }}
        />
      )}
      <LeaveDialog name={title} question={question} />
    </div>
  );
}

/** Null: the row may join the others. The service reads its amounts when the model is saved. */
function problemOfRow({ effective_from: day, source }: PriceRow, others: readonly PriceRow[]): string | null {
  if (day === '') return 'Choose the day from which the price holds.';
  if (source === '') return 'Name the source of the price: a page or a contract.';
  return others.some((row) => row.effective_from === day)
    ? 'A price begins on this day already. Remove it first, or choose another day.'
    : null;
}
