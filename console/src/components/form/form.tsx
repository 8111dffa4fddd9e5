// Forms: fields with labels, and the problems of a 400 beside the fields that have them.
import { Field } from '@base-ui/react/field';
import { Form as BaseForm } from '@base-ui/react/form';
import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ComponentProps, ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { readProblems } from '../../api/problems';
import { Notice } from '../feedback/states';
import styles from './form.module.css';

interface FormProps {
  /** The names of the fields: members of the body, by path. */
  readonly fields: readonly string[];
  /** The failure of the last attempt. */
  readonly error: unknown;
  /** Texts of inputs and selects, booleans of switches, by name: as they are, and as the form began. */
  readonly onSubmit: (values: FormValues, initial: FormValues) => void;
  readonly children: ReactNode;
}

export class FormValues {
  constructor(private readonly data: FormData) {}

  text(name: string): string {
    const value = this.data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }

  /** Null: the field is empty. */
  textOrNull(name: string): string | null {
    return this.text(name) || null;
  }

  /**
   * Null: the field is empty. A text that is no number is returned unchanged: JSON has no NaN and would send null, which
   * removes a limit. The service rejects the text and names the member.
   */
  numberOrNull(name: string, divisor = 1): number | null {
    const text = this.text(name);
    if (text === '') return null;
    // A percentage of 99.99 is the share 0.9999, not the nearest binary fraction below it.
    const number = divisor === 1 ? Number(text) : Number((Number(text) / divisor).toPrecision(15));
    return Number.isFinite(number) ? number : (text as unknown as number);
  }

  flag(name: string): boolean {
    return this.data.get(name) === 'on';
  }
}

export function Form({ fields, error, onSubmit, children }: FormProps) {
  // Problems belong to one attempt. Base UI refuses to submit while a field has one, though a change of another member,
  // or of the service, may have solved it: a further attempt clears them first.
  const [dismissed, setDismissed] = useState<unknown>(null);
  const shown = error === dismissed ? null : error;
  const names = fields.join(' ');
  // The same object while the error is the same: Base UI shows a new one again, also on fields changed since.
  const { members, general } = useMemo(() => readProblems(shown, names.split(' ')), [shown, names]);
  const element = useRef<HTMLFormElement>(null);
  const initial = useRef(new FormValues(new FormData()));
  useLayoutEffect(() => {
    if (element.current !== null) initial.current = new FormValues(new FormData(element.current));
  }, []);
  return (
    <BaseForm
      ref={element}
      className={styles.form}
      errors={members}
      noValidate
      onSubmitCapture={() => flushSync(() => setDismissed(error))}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(new FormValues(new FormData(event.currentTarget)), initial.current);
      }}
    >
      {general !== null && <Notice tone="bad">{general}</Notice>}
      {children}
    </BaseForm>
  );
}

interface FieldFrameProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: ReactNode;
}

interface TextFieldProps
  extends FieldFrameProps, Omit<ComponentProps<'input'>, 'name' | 'prefix' | 'className'> {
  /** Before the text: "USD". */
  readonly prefix?: string;
  /** Found by the page itself; it takes precedence over one of the service. */
  readonly problem?: string | undefined;
}

export function TextField({ name, label, hint, prefix, problem, ref, ...input }: TextFieldProps) {
  return (
    <Field.Root name={name} className={styles.field} invalid={problem !== undefined || undefined}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <span className={styles.control}>
        {prefix !== undefined && (
          <span className={styles.prefix} aria-hidden="true">
            {prefix}
          </span>
        )}
        <Field.Control className={styles.input} autoComplete="off" {...input} render={<input ref={ref} />} />
      </span>
      <FieldNotes hint={hint} problem={problem} />
    </Field.Root>
  );
}

interface TextAreaFieldProps extends FieldFrameProps, Omit<ComponentProps<'textarea'>, 'name' | 'className'> {
  /** Found by the page itself; it takes precedence over one of the service. */
  readonly problem?: string | undefined;
  /** A text for machines. */
  readonly isCode?: boolean;
}

export function TextAreaField({ name, label, hint, problem, isCode = false, ...area }: TextAreaFieldProps) {
  return (
    <Field.Root name={name} className={styles.field} invalid={problem !== undefined || undefined}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Control
        className={`${styles.area} ${isCode ? styles.areaOfCode : ''}`}
        render={<textarea rows={4} {...area} />}
      />
      <FieldNotes hint={hint} problem={problem} />
    </Field.Root>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface SelectFieldProps extends FieldFrameProps, Omit<ComponentProps<'select'>, 'name' | 'className'> {
  readonly choices: readonly Choice[];
}

/** The browser's own list, which works on every device. */
export function SelectField({ name, label, hint, choices, ...select }: SelectFieldProps) {
  return (
    <Field.Root name={name} className={styles.field}>
      <Field.Label className={styles.label}>{label}</Field.Label>
      <Field.Control
        className={styles.select}
        render={
          <select {...select}>
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.label}
              </option>
            ))}
          </select>
        }
      />
      <FieldNotes hint={hint} />
    </Field.Root>
  );
}

interface SwitchFieldProps extends FieldFrameProps {
  readonly defaultChecked?: boolean;
  readonly checked?: boolean;
  readonly onCheckedChange?: (isOn: boolean) => void;
}

export function SwitchField({ name, label, hint, ...state }: SwitchFieldProps) {
  return (
    <Field.Root name={name} className={styles.field}>
      <span className={styles.switchLine}>
        <BaseSwitch.Root className={styles.switch} name={name} {...state}>
          <BaseSwitch.Thumb className={styles.thumb} />
        </BaseSwitch.Root>
        <Field.Label className={styles.label}>{label}</Field.Label>
      </span>
      <FieldNotes hint={hint} />
    </Field.Root>
  );
}

function FieldNotes({ hint, problem }: { readonly hint: ReactNode; readonly problem?: string | undefined }) {
  return (
    <>
      {hint !== undefined && <Field.Description className={styles.hint}>{hint}</Field.Description>}
      {problem === undefined ? (
        <Field.Error className={styles.error} />
      ) : (
        <Field.Error className={styles.error} match>
          {problem}
        </Field.Error>
      )}
    </>
  );
}

/** Fields beside each other where there is room. */
export function FieldRow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}
