import { ChoiceButtons } from '../components/actions/choice-buttons';
import type { ButtonChoice } from '../components/actions/choice-buttons';
import type { Theme } from './theme';
import { chooseTheme, useTheme } from './use-theme';

const CHOICES: readonly ButtonChoice<Theme>[] = [
  { value: 'light', label: 'Light', icon: 'light' },
  { value: 'dark', label: 'Dark', icon: 'dark' },
  { value: 'system', label: 'System', icon: 'device' },
];

export const ThemeSwitch = () => (
  <ChoiceButtons label="Theme" choices={CHOICES} chosen={useTheme()} onChoose={chooseTheme} />
);
