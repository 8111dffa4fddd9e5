// The form of a guardrail: models, data, money and texts.
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { BuiltinFilter, Guardrail, GuardrailChange } from '../../api/guardrails';
import { useLeaveQuestion } from '../../app/page-hold';
import { Button } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import {
  FieldRow,
  Form,
  SelectField,
  SwitchField,
  TextAreaField,
  TextField,
} from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { LeaveDialog } from '../../components/overlay/leave-dialog';
import { BuiltinFields, FilterTrialBox, PatternFields, patternsOf, readPatterns } from './filter-fields';
import type { Pattern } from './filter-fields';
import { ZDR_MEMBERS } from './guardrail-words';
import styles from './guardrails.module.css';

const NAMES = [
  ['allowed_models', 'Only these models', 'Ids, one on each line. Empty: all models.'],
  ['ignored_models', 'Never these models', 'They win over the list of allowed ones.'],
  [
    'allowed_providers',
    'Only these providers',
    'Slugs of providers or tags of endpoints. Empty: all providers.',
  ],
  ['ignored_providers', 'Never these providers', 'They win over the list of allowed ones.'],
] as const;
const RESETS = [
  { value: 'daily', label: 'A day' },
  { value: 'weekly', label: 'A week' },
  { value: 'monthly', label: 'A month' },
];
const FIELDS = ['name', 'description', 'limit_usd', 'reset_interval', ...NAMES.map(([name]) => name)];

interface GuardrailFormProps {
  /** Absent: a new one. */
  readonly guardrail?: Guardrail;
  /** The guardrail of all keys of the workspace, which has no limit: the workspace has budgets. */
  readonly isDefault?: boolean;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly action: string;
  readonly onSubmit: (body: GuardrailChange, initial: GuardrailChange) => void;
  readonly cancel: ReactNode;
}

interface FilterState {
  readonly builtins: readonly BuiltinFilter[];
  readonly patterns: readonly Pattern[];
}

export function GuardrailForm(props: GuardrailFormProps) {
  const { guardrail, isDefault = false, error, isBusy, action, onSubmit, cancel } = props;
  const [begun] = useState<FilterState>(() => ({
    builtins: guardrail?.content_filter_builtins ?? [],
    patterns: readPatterns(guardrail?.content_filters ?? []),
  }));
  const [builtins, setBuiltins] = useState(begun.builtins);
  const [patterns, setPatterns] = useState(begun.patterns);
  const [isTouched, setTouched] = useState(false);
  const question = useLeaveQuestion(isTouched);
  const read = (values: FormValues, filters: FilterState): GuardrailChange => {
    const own = patternsOf(filters.patterns);
    const limit = isDefault ? null : values.numberOrNull('limit_usd');
    return {
      name: values.text('name'),
      description: values.textOrNull('description'),
      ...Object.fromEntries(NAMES.map(([name]) => [name, linesOf(values.text(name))])),
      ...Object.fromEntries(ZDR_MEMBERS.map(([name]) => [name, values.flag(name) || null])),
      enable_paid_model_training: values.flag('no_paid_training') ? false : null,
      enable_free_model_training: values.flag('no_free_training') ? false : null,
      ...(!isDefault && {
        limit_usd: limit,
        reset_interval: limit === null ? null : (values.text('reset_interval') as 'daily'),
        include_byok_in_budgets: values.flag('include_byok_in_budgets'),
      }),
      content_filters: own.length === 0 ? null : [...own],
      content_filter_builtins: filters.builtins.length === 0 ? null : [...filters.builtins],
      reject_unscannable: values.flag('reject_unscannable'),
    };
  };
  return (
    <div onChange={() => setTouched(true)}>
      <Form
        fields={FIELDS}
        error={error}
        onSubmit={(values, initial) => onSubmit(read(values, { builtins, patterns }), read(initial, begun))}
      >
        <Section title="About">
          <FieldRow>
            <TextField
              name="name"
              label="Name"
              defaultValue={guardrail?.name ?? (isDefault ? 'Workspace default' : '')}
              placeholder="Customer support"
              dir="auto"
              hint="Refusals name it."
            />
            <TextField
              name="description"
              label="Description"
              defaultValue={guardrail?.description ?? ''}
              dir="auto"
            />
          </FieldRow>
        </Section>
        <Section title="Models and providers">
          <div className={styles.pairs}>
            {NAMES.map(([name, label, hint]) => (
              <TextAreaField
                key={name}
                name={name}
                label={label}
                hint={hint}
                rows={3}
                spellCheck={false}
                isCode
                defaultValue={(guardrail?.[name] ?? []).join('\n')}
              />
            ))}
          </div>
        </Section>
        <Section title="Data">
          <fieldset className={styles.lines}>
            <legend className={styles.legend}>Only endpoints that retain nothing, for models of</legend>
            <div className={styles.choices}>
              {ZDR_MEMBERS.map(([name, vendor]) => (
                <SwitchField
                  key={name}
                  name={name}
                  label={vendor}
                  defaultChecked={guardrail?.[name] === true}
                />
              ))}
            </div>
          </fieldset>
          <div className={styles.switches}>
            <SwitchField
              name="no_paid_training"
              label="No endpoint with a price that trains on prompts"
              defaultChecked={guardrail?.enable_paid_model_training === false}
            />
            <SwitchField
              name="no_free_training"
              label="No free endpoint that trains on prompts"
              defaultChecked={guardrail?.enable_free_model_training === false}
            />
          </div>
        </Section>
        {!isDefault && (
          <Section
            title="Money"
            description="For each key that has it, and for all keys of each member together."
          >
            <FieldRow>
              <TextField
                name="limit_usd"
                label="Limit"
                prefix="USD"
                inputMode="decimal"
                defaultValue={guardrail?.limit_usd ?? ''}
                hint="Empty: no limit."
              />
              <SelectField
                name="reset_interval"
                label="In"
                choices={RESETS}
                defaultValue={guardrail?.reset_interval ?? 'daily'}
                hint="It starts over at 00:00 UTC; weeks begin on Monday."
              />
              <SwitchField
                name="include_byok_in_budgets"
                label="Count own provider keys"
                defaultChecked={guardrail?.include_byok_in_budgets ?? false}
              />
            </FieldRow>
          </Section>
        )}
        <Section
          title="Texts"
          description="Everything that a call sends is searched, each text by itself. Answers, images, audio and files are not."
        >
          <BuiltinFields filters={builtins} onChange={setBuiltins} />
          <PatternFields patterns={patterns} onChange={setPatterns} />
          <SwitchField
            name="reject_unscannable"
            label="Refuse calls with images, audio, video, files or token ids"
            defaultChecked={guardrail?.reject_unscannable ?? false}
            hint="Patterns cannot read them."
          />
          <FilterTrialBox builtins={builtins} patterns={patterns} />
        </Section>
        <div className={styles.formButtons}>
          {cancel}
          <Button type="submit" variant="primary" isBusy={isBusy}>
            {action}
          </Button>
        </div>
      </Form>
      <LeaveDialog name={guardrail?.name ?? 'New guardrail'} question={question} />
    </div>
  );
}

function linesOf(text: string): string[] | null {
  const lines = text.split(/\s+/).filter(Boolean);
  return lines.length === 0 ? null : lines;
}
