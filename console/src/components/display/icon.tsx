// The icons, drawn on a grid of 16 with a stroke of 1.5.
import styles from './icon.module.css';

const PATHS = {
  overview: 'M2 9.5h3l2-6 3 9 1.7-3H14',
  usage: 'M2.5 13.5h11M4.5 13.5v-4M8 13.5v-9M11.5 13.5v-6',
  keys: 'M10.5 9.5a3.5 3.5 0 1 0-3.2-2L2.5 12.2V14h2.2v-1.6h1.6v-1.7h1.5l.6-.6c.6.3 1.3.4 2.1.4ZM11 5h.01',
  generations: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  refusals: 'M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM4.1 4.1l7.8 7.8',
  destinations: 'M2 8h8m0 0L7 5m3 3-3 3M10 3h2.5A1.5 1.5 0 0 1 14 4.5v7a1.5 1.5 0 0 1-1.5 1.5H10',
  models: 'm8 2 5.5 3v6L8 14l-5.5-3V5L8 2Zm0 6 5.5-3M8 8v6M8 8 2.5 5',
  playground: 'M4.5 2.8v10.4L13 8 4.5 2.8Z',
  people:
    'M6 2.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM1.5 13.5c0-3 2-4.5 4.5-4.5s4.5 1.5 4.5 4.5M11 3a2.2 2.2 0 0 1 0 4M12 9.5c1.7.6 2.5 2 2.5 4',
  workspaces: 'M2.5 5.5h11v8h-11zM5.5 5.5v-3h5v3M2.5 9h11',
  providerKeys: 'M8 2l5 2v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4l5-2Zm-2 6 1.5 1.5L10.2 6.5',
  guardrails: 'M2.5 3v10.5M13.5 3v10.5M2.5 6h11M2.5 10h11',
  workloads: 'M2.5 3h11v7h-11zM5 6.5h3M5 13h6',
  alerts: 'M8 2a4 4 0 0 1 4 4c0 4 1.5 5 1.5 5h-11S4 10 4 6a4 4 0 0 1 4-4ZM6.5 13.5h3',
  audit: 'M4 2.5h6L12.5 5v8.5H4zM6.5 7h3.5M6.5 10h3.5',
  system: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  light:
    'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  dark: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z',
  device: 'M2 3h12v8H2zM6 14h4M8 11v3',
  signOut: 'M6 2.5H3v11h3M6.5 8H14m0 0-3-3m3 3-3 3',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'm3.5 3.5 9 9M12.5 3.5l-9 9',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  refresh: 'M13.5 3v3.5H10M13.2 6.5A5.5 5.5 0 1 0 13.5 9',
  more: 'M3 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0M12 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0',
  plus: 'M8 3v10M3 8h10',
  chevron: 'm4 6 4 4 4-4',
  warning: 'M8 2 14.5 13.5h-13L8 2Zm0 4.5v3.5M8 12h.01',
  image: 'M2.5 3.5h11v9h-11zM2.5 11l3.5-3.5 2.5 2.5 2-2 3 3M10.5 6h.01',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 13.5 13.5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
