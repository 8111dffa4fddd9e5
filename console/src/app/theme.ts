// The theme: the system's, unless the user has chosen one in this browser.

export const THEMES = ['light', 'dark', 'system'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'signalbox-theme';

export function readTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

export function storeTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme);
  applyTheme(theme);
}
