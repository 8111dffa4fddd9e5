// A new price row: it begins on a day and leaves earlier rows as they are.
import { useState } from 'react';
import type { CatalogueKind, PriceRow } from '../../../api/catalogue';
import { FieldRow, Form, SelectField, TextAreaField, TextField } from '../../../components/form/form';
import type { FormValues } from '../../../components/form/form';
import { Dialog, SubmitButtons } from '../../../components/overlay/dialog';
import { ChangeProblem, wordsOf } from './change-problem';
import { priceWord, rowInForce, utcToday } from './documents';
import {
  amountFields,
  amountText,
  FURTHER,
  furtherText,
  problemOfObject,
  readRow,
  rowFields,
} from './price-fields';

export interface PricedEndpoint {
  readonly tag: string;
  readonly rows: readonly PriceRow[];
}

interface PriceDialogProps {
  readonly kind: CatalogueKind;
  /** The first is chosen. */
  readonly endpoints: readonly PricedEndpoint[];
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly action: string;
  readonly saveOverNewest?: (() => void) | undefined;
  /** For the history; false: the form around the dialog has it. */
  readonly hasReason?: boolean;
  readonly onAdd: (tag: string, row: PriceRow, reason: string | null) => void;
  readonly onClose: () => void;
}

const UNIT_LABELS: Readonly<Record<string, string>> = {
  usd_per_million_tokens: 'Input, 1M tokens',
  usd_per_search_unit: 'Search unit',
};

function labelOf(field: string): string {
  const [, member] = field.split('.');
  return member === undefined ? (UNIT_LABELS[field] ?? field) : `${priceWord(member)}, 1M tokens`;
}

/** `endpoints[0].prices[2].source: …` is about the field `source`. */
export const inRow = (problem: string): string =>
  problem
    .replace(/^endpoints\[\d+\]\.prices(?:\[\d+\])?[.:] ?/, '')
    .replace(/^(\w+) is missing/, '$1: is missing')
    .replace(/^there are two prices/, 'effective_from: there are two prices')
    .replace(/^(usd_per_million_tokens) must have (\w+): (.*)/, '$1.$2: $3')
    .replace(
      /^(usd_per_million_tokens) must have prompt and completion/,
      '$1.completion: must be stated, and the input',
    )
    .replace(
      /^(tiers|service_tiers|usd_per_image|usd_per_request|usd_per_thousand_searches)/,
      `${FURTHER}: $1`,
    );

export function PriceDialog(props: PriceDialogProps) {
  const { kind, endpoints, error, isBusy, action, saveOverNewest, hasReason = true, onAdd, onClose } = props;
  const [tag, setTag] = useState(endpoints[0]?.tag ?? '');
  const [further, setFurther] = useState<string>();
  const rows = endpoints.find((endpoint) => endpoint.tag === tag)?.rows ?? [];
  const row = rowInForce(rows, utcToday());
  const problem = further === undefined ? undefined : problemOfObject(further);
  const submit = (values: FormValues) => {
    const text = values.text(FURTHER);
    setFurther(text);
    if (problemOfObject(text) !== undefined) return;
    onAdd(tag, readRow(values, kind), hasReason ? values.textOrNull('reason') : null);
  };
  return (
    <Dialog
      title="Add a price"
      description="It holds from 00:00 UTC of its day. Calls before that day keep their price."
      isOpen
      onClose={onClose}
    >
      <Form
        key={tag}
        fields={rowFields(kind)}
        error={wordsOf(error) === undefined ? error : null}
        onSubmit={submit}
      >
        {wordsOf(error) !== undefined && <ChangeProblem error={error} saveOverNewest={saveOverNewest} />}
        {endpoints.length > 1 && (
          <SelectField
            name="endpoint"
            label="Endpoint"
            value={tag}
            choices={endpoints.map((endpoint) => ({ value: endpoint.tag, label: endpoint.tag }))}
            onChange={({ target }) => setTag(target.value)}
          />
        )}
        <FieldRow>
          <TextField name="effective_from" label="From" type="date" defaultValue={utcToday()} />
          <TextField
            name="source"
            label="Source"
            placeholder="https://openai.com/api/pricing"
            hint="The page or contract that states it."
            dir="auto"
          />
        </FieldRow>
        <FieldRow>
          {amountFields(kind).map((field) => (
            <TextField
              key={field}
              name={field}
              label={labelOf(field)}
              prefix="USD"
              inputMode="decimal"
              defaultValue={amountText(row, field)}
            />
          ))}
        </FieldRow>
        <Further text={furtherText(row, kind)} problem={problem} onChange={() => setFurther(undefined)} />
        {hasReason && <ReasonField />}
        <SubmitButtons action={action} isBusy={isBusy} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

interface FurtherProps {
  readonly text: string;
  readonly problem: string | undefined;
  readonly onChange: () => void;
}

function Further({ text, problem, onChange }: FurtherProps) {
  return (
    <TextAreaField
      name={FURTHER}
      label="Further prices"
      isCode
      rows={text === '' ? 2 : 6}
      defaultValue={text}
      problem={problem}
      onChange={onChange}
      spellCheck={false}
      hint="JSON: tiers, service_tiers, usd_per_request and others of docs/catalogue.example.yaml. 0 is free; an absent price is unknown."
    />
  );
}

export const ReasonField = () => (
  <TextField
    name="reason"
    label="Reason"
    placeholder="New price of the provider's page"
    hint="For the history. Optional."
    dir="auto"
  />
);
