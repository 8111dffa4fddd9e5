// The entries of the navigation, by what they are about.
import type { Right } from '../api/rights';
import type { IconName } from '../components/display/icon';

export const NAVIGATION = [
  {
    title: null,
    entries: [
      { to: '/', label: 'Overview', icon: 'overview', right: 'calls.read' },
      { to: '/usage', label: 'Usage', icon: 'usage', right: 'calls.read' },
    ],
  },
  {
    title: 'Traffic',
    entries: [
      { to: '/generations', label: 'Generations', icon: 'generations', right: 'calls.read' },
      { to: '/refusals', label: 'Refused calls', icon: 'refusals', right: 'calls.read' },
      { to: '/destinations', label: 'Destinations', icon: 'destinations', right: 'destinations.read' },
      { to: '/models', label: 'Models and providers', icon: 'models', right: 'catalogue.read' },
      { to: '/playground', label: 'Playground', icon: 'playground', right: 'playground.use' },
    ],
  },
  {
    title: 'Access',
    entries: [
      { to: '/keys', label: 'Keys', icon: 'keys', right: 'keys.read' },
      { to: '/provider-keys', label: 'Provider keys', icon: 'providerKeys', right: 'provider_keys.read' },
      { to: '/guardrails', label: 'Guardrails', icon: 'guardrails', right: 'guardrails.read' },
      { to: '/workload-identity', label: 'Workload identity', icon: 'workloads', right: 'federation.read' },
      { to: '/workspaces', label: 'Workspaces', icon: 'workspaces', right: 'workspaces.read' },
      { to: '/people', label: 'People', icon: 'people', right: 'people.read' },
      { to: '/alerts', label: 'Alerts', icon: 'alerts', right: 'notifications.read' },
    ],
  },
  {
    title: 'Operation',
    entries: [
      { to: '/audit', label: 'Audit log', icon: 'audit', right: 'audit.read' },
      { to: '/sign-in-settings', label: 'Sign-in', icon: 'signOut', right: 'people.read' },
      { to: '/system', label: 'System', icon: 'system', right: 'system.read' },
    ],
  },
] as const satisfies readonly NavigationGroup[];

/** For a session of an inference key. */
export const INFERENCE_NAVIGATION = [
  {
    title: null,
    entries: [
      { to: '/my-key', label: 'My key', icon: 'keys' },
      { to: '/playground', label: 'Playground', icon: 'playground' },
    ],
  },
] as const satisfies readonly NavigationGroup[];

interface NavigationEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Absent: a page for keys. */
  readonly right?: Right;
}

export interface NavigationGroup {
  readonly title: string | null;
  readonly entries: readonly NavigationEntry[];
}

/** Beside those of keys, which have no person. */
const OF_PERSON = { to: '/my-keys', label: 'My keys', icon: 'keys', right: 'keys.change' } as const;

/** The entries of a session that has some of the rights. */
export function navigationOf(
  hasRight: (right: Right) => boolean,
  isPerson: boolean,
): readonly NavigationGroup[] {
  return NAVIGATION.map(({ title, entries }) => ({
    title,
    entries: [...(isPerson && title === 'Access' ? [OF_PERSON] : []), ...entries].filter(({ right }) =>
      hasRight(right),
    ),
  })).filter(({ entries }) => entries.length > 0);
}
