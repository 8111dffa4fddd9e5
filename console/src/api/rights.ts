// The rights of people, and the roles that have each, for the words of a page. The service decides; a test compares its table.
export const ROLE_WORDS = {
  viewer: 'viewer, developer or admin',
  not_developer: 'viewer or admin',
  account_viewer: 'admin or viewer of the account',
  developer: 'developer or admin',
  workspace_admin: 'admin of the workspace',
  admin: 'admin of the account',
  owner: 'owner of the account',
} as const;

export type NeededRole = keyof typeof ROLE_WORDS;

export const NEEDED_ROLES = {
  'account.read': 'viewer',
  'playground.use': 'developer',
  'keys.read': 'viewer',
  'keys.change': 'developer',
  'management_keys.change': 'owner',
  'calls.read': 'viewer',
  'calls.read_content': 'developer',
  'destinations.read': 'not_developer',
  'destinations.change': 'workspace_admin',
  'provider_keys.read': 'not_developer',
  'provider_keys.change': 'workspace_admin',
  'providers.test': 'workspace_admin',
  'workspaces.read': 'viewer',
  'workspaces.change': 'workspace_admin',
  'workspaces.create': 'admin',
  'budgets.change': 'admin',
  'members.read': 'viewer',
  'members.change': 'workspace_admin',
  'credits.read': 'account_viewer',
  'notifications.read': 'not_developer',
  'notifications.change': 'workspace_admin',
  'audit.read': 'workspace_admin',
  'system.read': 'admin',
  'presets.read': 'viewer',
  'presets.change': 'workspace_admin',
  'guardrails.read': 'viewer',
  'guardrails.read_usage': 'not_developer',
  'guardrails.change': 'workspace_admin',
  'default_guardrail.change': 'admin',
  'catalogue.read': 'viewer',
  'catalogue.change': 'admin',
  'own_key_policy.read': 'viewer',
  'own_key_policy.change': 'workspace_admin',
  'people.read': 'admin',
  'people.change': 'admin',
  'federation.read': 'admin',
  'federation.change': 'admin',
} as const satisfies Readonly<Record<string, NeededRole>>;

export type Right = keyof typeof NEEDED_ROLES;
