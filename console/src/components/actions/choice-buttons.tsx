// A choice that the page keeps by itself: one of several, side by side.
import { useId } from 'react';
import { Icon } from '../display/icon';
import type { IconName } from '../display/icon';
import styles from './choice-links.module.css';

export interface ButtonChoice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** Shown instead of the label. */
  readonly icon?: IconName;
}

interface ChoiceButtonsProps<Value extends string> {
  readonly label: string;
  readonly choices: readonly ButtonChoice<Value>[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

export function ChoiceButtons<Value extends string>(props: ChoiceButtonsProps<Value>) {
  const { label: legend, choices, chosen, onChoose } = props;
  const name = useId();
  return (
    <fieldset className={styles.choices}>
      <legend className="visually-hidden">{legend}</legend>
      {choices.map(({ value, label, icon }) => (
        <label key={value} className={styles.choice} title={icon && label}>
          <input
            type="radio"
            name={name}
            className="visually-hidden"
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          {icon && <Icon name={icon} />}
          <span className={icon && 'visually-hidden'}>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
