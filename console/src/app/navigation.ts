// The entries of the navigation, by what they are about.
import type { IconName } from '../components/display/icon';

export const NAVIGATION = [
  {
    title: null,
    entries: [
      { to: '/', label: 'Overview', icon: 'overview' },
      { to: '/usage', label: 'Usage', icon: 'usage' },
    ],
  },
  {
    title: 'Traffic',
    entries: [
      { to: '/generations', label: 'Generations', icon: 'generations' },
      { to: '/refusals', label: 'Refused calls', icon: 'refusals' },
      { to: '/destinations', label: 'Destinations', icon: 'destinations' },
      { to: '/models', label: 'Models and providers', icon: 'models' },
      { to: '/playground', label: 'Playground', icon: 'playground' },
    ],
  },
  {
    title: 'Access',
    entries: [
      { to: '/keys', label: 'Keys', icon: 'keys' },
      { to: '/provider-keys', label: 'Provider keys', icon: 'providerKeys' },
      { to: '/guardrails', label: 'Guardrails', icon: 'guardrails' },
      { to: '/workspaces', label: 'Workspaces', icon: 'workspaces' },
      { to: '/alerts', label: 'Alerts', icon: 'alerts' },
    ],
  },
  {
    title: 'Operation',
    entries: [
      { to: '/audit', label: 'Audit log', icon: 'audit' },
      { to: '/system', label: 'System', icon: 'system' },
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

export interface NavigationGroup {
  readonly title: string | null;
  readonly entries: readonly { readonly to: string; readonly label: string; readonly icon: IconName }[];
}
