import { Icon } from '../components/display/icon';
import { chooseTheme, THEMES, useTheme } from './theme';
import type { Theme } from './theme';
import styles from './theme-switch.module.css';

const ICONS = { light: 'light', dark: 'dark', system: 'device' } as const;
const LABELS: Readonly<Record<Theme, string>> = { light: 'Light', dark: 'Dark', system: 'System' };

export function ThemeSwitch() {
  const chosen = useTheme();
  return (
    <fieldset className={styles.switch}>
      <legend className="visually-hidden">Theme</legend>
      {THEMES.map((theme) => (
        <label key={theme} className={styles.choice} title={LABELS[theme]}>
          <input
            type="radio"
            name="theme"
            className="visually-hidden"
            checked={chosen === theme}
            onChange={() => chooseTheme(theme)}
          />
          <Icon name={ICONS[theme]} />
          <span className="visually-hidden">{LABELS[theme]}</span>
        </label>
      ))}
    </fieldset>
  );
}
