// The settings of a destination, for a new one and for changes. Test tries them before they are saved.
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { DestinationKind } from '../../api/destination-kinds';
import { testSettings } from '../../api/destinations';
import type { Destination, DestinationSettings, FilterRules } from '../../api/destinations';
import { messageOf, readProblems } from '../../api/problems';
import { useLeaveQuestion } from '../../app/page-hold';
import { Button } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { TestResult } from '../../components/feedback/test-result';
import { Notice } from '../../components/feedback/states';
import { FieldRow, Form, FormValues, SwitchField, TextField } from '../../components/form/form';
import { problemOfHeaders, readHeaders } from '../../components/form/header-fields';
import type { Header } from '../../components/form/header-fields';
import { KeyChoice } from '../../components/form/key-choice';
import { LeaveDialog } from '../../components/overlay/leave-dialog';
import { FilterBuilder, filterPathsOf, toFilterRules } from './filter-builder';
import { useFilterPreview } from './filter-preview';
import { fieldNamesOf, HEADERS, KindFields, readConfig } from './kind-fields';
import styles from './destinations.module.css';

const PERCENT = 100;

interface DestinationFormProps {
  readonly kind: DestinationKind;
  /** Absent: a new one. */
  readonly destination?: Destination;
  readonly workspaceId: string;
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly action: string;
  /** `initial` are the settings that the form began with. */
  readonly onSubmit: (settings: DestinationSettings, initial: DestinationSettings) => void;
  /** The way out without a change. */
  readonly cancel: ReactNode;
}

/** The values that no input of the form has. */
interface FormState {
  readonly headers: readonly Header[];
  readonly keys: readonly string[] | null;
  readonly groups: FilterRules['groups'];
  readonly isFiltering: boolean;
}

export function DestinationForm(props: DestinationFormProps) {
  const { kind, workspaceId, error, isBusy, action, onSubmit, cancel } = props;
  // It may be loaded again while the form is open, which keeps what it began with.
  const [destination] = useState(props.destination);
  const [begun] = useState<FormState>(() => ({
    headers: readHeaders(destination?.config['headers'] as Readonly<Record<string, string>> | undefined),
    keys: destination?.api_key_hashes ?? null,
    groups: destination?.filter_rules?.groups ?? [],
    isFiltering: destination?.filter_rules?.enabled ?? true,
  }));
  const [headers, setHeaders] = useState(begun.headers);
  const [keys, setKeys] = useState(begun.keys);
  const [groups, setGroups] = useState(begun.groups);
  const [isFiltering, setFiltering] = useState(begun.isFiltering);
  const [keysOf, setKeysOf] = useState(workspaceId);
  if (keysOf !== workspaceId) {
    // The keys of the former workspace do not exist in this one.
    setKeysOf(workspaceId);
    setKeys(keys && []);
  }
  const [isTouched, setTouched] = useState(false);
  const question = useLeaveQuestion(isTouched);
  const frame = useRef<HTMLDivElement>(null);
  const test = useMutation({
    mutationFn: (values: FormValues) =>
      testSettings(
        kind.type,
        testable(readConfig(kind, values, headers, destination?.config)),
        destination?.id,
      ),
  });
  const read = (values: FormValues, state: FormState): DestinationSettings => ({
    name: values.text('name'),
    enabled: values.flag('enabled'),
    config: readConfig(kind, values, state.headers, destination?.config),
    privacy_mode: values.flag('privacy_mode'),
    broadcast_generation_cost: values.flag('broadcast_generation_cost'),
    broadcast_generation_identity: values.flag('broadcast_generation_identity'),
    broadcast_generation_request_context: values.flag('broadcast_generation_request_context'),
    sampling_rate: values.numberOrNull('sampling_rate', PERCENT) ?? 1,
    api_key_hashes: state.keys === null ? null : [...state.keys],
    filter_rules: toFilterRules(state.groups, state.isFiltering),
  });
  const filterPaths = filterPathsOf(groups);
  const preview = useFilterPreview(
    {
      ...(destination ? { destination_id: destination.id } : { workspace_id: workspaceId }),
      api_key_hashes: keys && [...keys],
      filter_rules: toFilterRules(groups, isFiltering),
    },
    filterPaths,
  );
  const fields = [...fieldNamesOf(kind), 'name', 'sampling_rate', ...filterPaths];
  // The latest attempt counts: a test checks the same fields as the save.
  const problem = test.error ?? error;
  const { members, general } = readProblems(problem, fields);
  // Headers are no fields of the form, which gives a field with a problem the focus.
  const ownProblem = problemOfHeaders(headers);
  const headersProblem = members[HEADERS];
  const isFilterWrong = filterPaths.some((path) => members[path] !== undefined);
  useEffect(() => {
    if (general !== null || headersProblem !== undefined || isFilterWrong) showProblem(frame.current);
  }, [general, headersProblem, isFilterWrong]);
  return (
    <div ref={frame} onChange={() => setTouched(true)}>
      <Form
        fields={fields}
        error={problem}
        onSubmit={(values, initial) => {
          if (ownProblem !== undefined) return showProblem(frame.current);
          test.reset();
          onSubmit(read(values, { headers, keys, groups, isFiltering }), read(initial, begun));
        }}
      >
        <Section title={`Connection to ${kind.name}`}>
          <div className={styles.fields}>
            <FieldRow>
              <TextField
                name="name"
                label="Name"
                defaultValue={destination?.name ?? ''}
                placeholder="Production traces"
                dir="auto"
              />
              <SwitchField
                name="enabled"
                label="Enabled"
                defaultChecked={destination?.enabled ?? true}
                hint="Switched off, it receives nothing, and nothing waits for it."
              />
            </FieldRow>
            <KindFields
              kind={kind}
              stored={destination?.config}
              headers={headers}
              headersProblem={ownProblem ?? headersProblem}
              onHeadersChange={setHeaders}
            />
          </div>
        </Section>
        <Section title="Which calls it receives">
          <div className={styles.fields}>
            <TextField
              name="sampling_rate"
              label="Sampling"
              prefix="%"
              inputMode="decimal"
              defaultValue={Number(((destination?.sampling_rate ?? 1) * 100).toPrecision(12))}
              hint="Share of the calls, from 0.01 to 100. Calls of one session stay together."
            />
            <KeyChoice
              key={workspaceId}
              legend="Keys"
              workspaceId={workspaceId}
              chosen={keys}
              onChange={setKeys}
            />
            <fieldset className={styles.lines}>
              <legend className={styles.legend}>Filter</legend>
              <p className={styles.hint}>
                {groups.length === 0
                  ? 'Every call is sent. With a filter, only calls that match one of its groups.'
                  : 'A call is sent when one of the groups matches.'}
              </p>
              <FilterBuilder
                groups={groups}
                problems={preview.problems ?? members}
                onChange={(next) => setGroups([...next])}
              />
              {groups.length > 0 && (
                <SwitchField
                  name="filter_enabled"
                  label="Apply the filter"
                  checked={isFiltering}
                  onCheckedChange={setFiltering}
                />
              )}
              <p role="status" className={styles.preview}>
                {preview.text}
              </p>
            </fieldset>
          </div>
        </Section>
        <Section title="Content of a trace">
          <div className={styles.switches}>
            <SwitchField
              name="privacy_mode"
              label="Privacy mode"
              defaultChecked={destination?.privacy_mode ?? false}
              hint="Leaves out inputs and outputs."
            />
            <SwitchField
              name="broadcast_generation_cost"
              label="Cost and billing"
              defaultChecked={destination?.broadcast_generation_cost ?? false}
              hint="Amounts, discounts, and whether an own provider key paid."
            />
            <SwitchField
              name="broadcast_generation_identity"
              label="Identity"
              defaultChecked={destination?.broadcast_generation_identity ?? false}
              hint="Account, workspace and key of the call."
            />
            <SwitchField
              name="broadcast_generation_request_context"
              label="Request context"
              defaultChecked={destination?.broadcast_generation_request_context ?? false}
              hint="Facts of the request and its routing."
            />
          </div>
        </Section>
        <div className={styles.formEnd}>
          <div role="status" className={styles.testResult}>
            {test.data && <TestResult name={kind.name} result={test.data} />}
            {test.error !== null && <Notice tone="bad">{messageOf(test.error)}</Notice>}
          </div>
          <div className={styles.formButtons}>
            {cancel}
            <Button
              isBusy={test.isPending}
              onClick={({ currentTarget: { form } }) => {
                if (ownProblem !== undefined) showProblem(frame.current);
                else if (form !== null) test.mutate(new FormValues(new FormData(form)));
              }}
            >
              {test.isPending ? 'Testing…' : 'Test'}
            </Button>
            <Button type="submit" variant="primary" isBusy={isBusy}>
              {action}
            </Button>
          </div>
        </div>
      </Form>
      <LeaveDialog name={destination?.name ?? `New ${kind.name}`} question={question} />
    </div>
  );
}

function showProblem(form: HTMLElement | null): void {
  form?.querySelector('[role=alert]')?.scrollIntoView({ block: 'center' });
}

/** A member that the change would remove is absent from the test. */
function testable(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}
