// The routes. Each page is a chunk of its own; its search parameters are typed here, so that links are checked.
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { readAlertSearch, readAlertsSearch } from '../pages/alerts/alert-search';
import { readAuditSearch } from '../pages/audit/audit-search';
import type { ConsentSearch } from '../pages/consent/consent-search';
import { readGenerationSearch } from '../pages/generations/generation-search';
import { readKeySearch } from '../pages/keys/key-search';
import { readModelSearch, readNewModelSearch } from '../pages/models/model-search';
import { readOverviewSearch } from '../pages/overview/overview-search';
import { readPlaygroundSearch } from '../pages/playground/playground-search';
import { readRefusalSearch } from '../pages/refusals/refusal-search';
import { readUsageSearch } from '../pages/usage/usage-search';
import { appRoute, managementRoute, rootRoute } from './base-routes';
import { textOf } from './search';
import { NotFoundPage } from './page-error';

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { from?: string } => ({ from: textOf(search['from']) }),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page'), 'SignInPage'),
});

const overviewRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import('../pages/overview/overview-page'), 'OverviewPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/usage',
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import('../pages/usage/usage-page'), 'UsagePage'),
});

const keysRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/keys',
  validateSearch: readKeySearch,
  component: lazyRouteComponent(() => import('../pages/keys/keys-page'), 'KeysPage'),
});

const keyRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/keys/$hash',
  component: lazyRouteComponent(() => import('../pages/keys/key-page'), 'KeyPage'),
});

const myKeysRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/my-keys',
  component: lazyRouteComponent(() => import('../pages/my-keys/my-keys-page'), 'MyKeysPage'),
});

const generationsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/generations',
  validateSearch: readGenerationSearch,
  component: lazyRouteComponent(() => import('../pages/generations/generations-page'), 'GenerationsPage'),
});

const generationRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/generations/$id',
  component: lazyRouteComponent(() => import('../pages/generations/generation-page'), 'GenerationPage'),
});

const refusalsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/refusals',
  validateSearch: readRefusalSearch,
  component: lazyRouteComponent(() => import('../pages/refusals/refusals-page'), 'RefusalsPage'),
});

const destinationsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/destinations',
  component: lazyRouteComponent(() => import('../pages/destinations/destinations-page'), 'DestinationsPage'),
});

const newDestinationRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/destinations/new',
  validateSearch: (search): { kind?: string } => ({ kind: textOf(search['kind']) }),
  component: lazyRouteComponent(
    () => import('../pages/destinations/destination-edit-page'),
    'NewDestinationPage',
  ),
});

const destinationRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/destinations/$id',
  component: lazyRouteComponent(() => import('../pages/destinations/destination-page'), 'DestinationPage'),
});

const editDestinationRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/destinations/$id/edit',
  component: lazyRouteComponent(
    () => import('../pages/destinations/destination-edit-page'),
    'EditDestinationPage',
  ),
});

const modelsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/models',
  validateSearch: readModelSearch,
  component: lazyRouteComponent(() => import('../pages/models/models-page'), 'ModelsPage'),
});

const modelRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/models/$author/$slug',
  component: lazyRouteComponent(() => import('../pages/models/model-page'), 'ModelPage'),
});

const newModelRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/models/new',
  validateSearch: readNewModelSearch,
  component: lazyRouteComponent(() => import('../pages/models/new-model-page'), 'NewModelPage'),
});

const editModelRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/models/$author/$slug/edit',
  component: lazyRouteComponent(() => import('../pages/models/model-edit-page'), 'EditModelPage'),
});

const importsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/imports',
  component: lazyRouteComponent(() => import('../pages/imports/imports-page'), 'ImportsPage'),
});

const importRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/imports/$id',
  component: lazyRouteComponent(() => import('../pages/imports/import-page'), 'ImportPage'),
});

const playgroundRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/playground',
  validateSearch: readPlaygroundSearch,
  component: lazyRouteComponent(() => import('../pages/playground/playground-page'), 'PlaygroundPage'),
});

const workspacesRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workspaces',
  component: lazyRouteComponent(() => import('../pages/workspaces/workspaces-page'), 'WorkspacesPage'),
});

const workspaceRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workspaces/$id',
  component: lazyRouteComponent(() => import('../pages/workspaces/workspace-page'), 'WorkspacePage'),
});

const alertsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/alerts',
  validateSearch: readAlertsSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/alerts-page'), 'AlertsPage'),
});

const alertRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/alerts/$id',
  validateSearch: readAlertSearch,
  component: lazyRouteComponent(() => import('../pages/alerts/alert-page'), 'AlertPage'),
});

const guardrailsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/guardrails',
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrails-page'), 'GuardrailsPage'),
});

const newGuardrailRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/guardrails/new',
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrail-edit-page'), 'NewGuardrailPage'),
});

const guardrailRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/guardrails/$id',
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrail-page'), 'GuardrailPage'),
});

const editGuardrailRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/guardrails/$id/edit',
  component: lazyRouteComponent(() => import('../pages/guardrails/guardrail-edit-page'), 'EditGuardrailPage'),
});

const policiesRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workload-identity',
  component: lazyRouteComponent(() => import('../pages/workload-identity/policies-page'), 'PoliciesPage'),
});

const newPolicyRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workload-identity/new',
  validateSearch: (search): { platform?: string } => ({ platform: textOf(search['platform']) }),
  component: lazyRouteComponent(() => import('../pages/workload-identity/policy-edit-page'), 'NewPolicyPage'),
});

const policyRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workload-identity/$id',
  component: lazyRouteComponent(() => import('../pages/workload-identity/policy-page'), 'PolicyPage'),
});

const editPolicyRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/workload-identity/$id/edit',
  component: lazyRouteComponent(
    () => import('../pages/workload-identity/policy-edit-page'),
    'EditPolicyPage',
  ),
});

const auditRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/audit-page'), 'AuditPage'),
});

const peopleRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/people',
  component: lazyRouteComponent(() => import('../pages/people/people-page'), 'PeoplePage'),
});

const signInSettingsRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/sign-in-settings',
  component: lazyRouteComponent(
    () => import('../pages/sign-in-settings/sign-in-settings-page'),
    'SignInSettingsPage',
  ),
});

const providerKeysRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/provider-keys',
  component: lazyRouteComponent(
    () => import('../pages/provider-keys/provider-keys-page'),
    'ProviderKeysPage',
  ),
});

const systemRoute = createRoute({
  getParentRoute: () => managementRoute,
  path: '/system',
  component: lazyRouteComponent(() => import('../pages/system/system-page'), 'SystemPage'),
});

const myKeyRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/my-key',
  beforeLoad: ({ context: { session } }) => {
    if (session.kind === 'person') throw redirect({ to: '/' });
  },
  component: lazyRouteComponent(() => import('../pages/my-key/my-key-page'), 'MyKeyPage'),
});

/** Programs open it, by the address that the helpers of client libraries build. */
const consentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/auth',
  // All are texts; the page reads them.
  validateSearch: (search) => search as ConsentSearch,
  component: lazyRouteComponent(() => import('../pages/consent/consent-page'), 'ConsentPage'),
});

/** Within the frame, so that the navigation leads on. */
const unknownRoute = createRoute({ getParentRoute: () => appRoute, path: '$', component: NotFoundPage });

export const routeTree = rootRoute.addChildren([
  signInRoute,
  appRoute.addChildren([
    managementRoute.addChildren([
      overviewRoute,
      usageRoute,
      keysRoute,
      keyRoute,
      myKeysRoute,
      generationsRoute,
      generationRoute,
      refusalsRoute,
      destinationsRoute,
      newDestinationRoute,
      destinationRoute,
      editDestinationRoute,
      modelsRoute,
      modelRoute,
      newModelRoute,
      editModelRoute,
      importsRoute,
      importRoute,
      workspacesRoute,
      workspaceRoute,
      alertsRoute,
      alertRoute,
      guardrailsRoute,
      newGuardrailRoute,
      guardrailRoute,
      editGuardrailRoute,
      peopleRoute,
      signInSettingsRoute,
      policiesRoute,
      newPolicyRoute,
      policyRoute,
      editPolicyRoute,
      auditRoute,
      providerKeysRoute,
      systemRoute,
    ]),
    playgroundRoute,
    myKeyRoute,
    consentRoute,
    unknownRoute,
  ]),
]);
