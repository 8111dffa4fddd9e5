// The routes. Each page is a chunk of its own; its search parameters are typed here, so that links are checked.
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { BASE_PATH } from '../base-path';
import { sessionQuery } from '../api/session';
import { Placeholder } from '../components/feedback/states';
import { readAlertSearch, readAlertsSearch } from '../pages/alerts/alert-search';
import { readAuditSearch } from '../pages/audit/audit-search';
import { readGenerationSearch } from '../pages/generations/generation-search';
import { readKeySearch } from '../pages/keys/key-search';
import { readModelSearch, readNewModelSearch } from '../pages/models/model-search';
import { readOverviewSearch } from '../pages/overview/overview-search';
import { readPlaygroundSearch } from '../pages/playground/playground-search';
import { readRefusalSearch } from '../pages/refusals/refusal-search';
import { readUsageSearch } from '../pages/usage/usage-search';
import { parseSearch, stringifySearch, textOf } from './search';
import { Shell } from './shell';
import { NotFoundPage, PageError } from './page-error';

interface RouterContext {
  readonly queryClient: QueryClient;
}

const rootRoute = createRootRouteWithContext<RouterContext>()({ component: Outlet });

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { from?: string } => ({ from: textOf(search['from']) }),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page'), 'SignInPage'),
});

/** Everything behind the sign-in. Its parameter, the workspace, stays in the address from page to page. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  validateSearch: (search): { workspace?: string } => ({ workspace: textOf(search['workspace']) }),
  search: { middlewares: [retainSearchParams(['workspace'])] },
  beforeLoad: async ({ context: { queryClient }, location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: '/sign-in', search: { from: location.publicHref } });
    return { session };
  },
  component: Shell,
});

/** Pages for management keys and people. A session of an inference key sees its own page instead. */
const managementRoute = createRoute({
  getParentRoute: () => appRoute,
  id: 'management',
  beforeLoad: ({ context: { session } }) => {
    if (session.kind === 'inference') throw redirect({ to: '/my-key' });
  },
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

/** Within the frame, so that the navigation leads on. */
const unknownRoute = createRoute({ getParentRoute: () => appRoute, path: '$', component: NotFoundPage });

const routeTree = rootRoute.addChildren([
  signInRoute,
  appRoute.addChildren([
    managementRoute.addChildren([
      overviewRoute,
      usageRoute,
      keysRoute,
      keyRoute,
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
      auditRoute,
      providerKeysRoute,
      systemRoute,
    ]),
    playgroundRoute,
    myKeyRoute,
    unknownRoute,
  ]),
]);

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: BASE_PATH,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingComponent: Placeholder,
    defaultErrorComponent: PageError,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
