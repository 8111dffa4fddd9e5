// The manifests of deploy/kubernetes: valid by the published types, consistent with each other and with the service.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readAppConfig } from '../../src/config/app-config.js';
import { shutdownTime } from '../../src/config/shutdown-times.js';
import { PROVIDERS } from '../../src/providers/index.js';
import { TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import { deploySnippet } from '../support/deploy/deploy-snippet.js';
import { buildManifests, buildOverlay, hasKustomize } from '../support/deploy/kubernetes-manifests.js';
import type { Container, KubernetesObject, Labels, PodSpec } from '../support/deploy/kubernetes-manifests.js';
import { KubernetesSchemas } from '../support/deploy/kubernetes-schemas.js';
import type { Identified } from '../support/deploy/kubernetes-schemas.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// Without a kubectl that has kustomize 5 nothing builds the manifests; .ci/run installs one.
const built = hasKustomize() ? describe : describe.skip;
const MOUNTED_SECRET = '/run/secrets/signalbox/';
const schemas = new KubernetesSchemas();

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly environment: Labels; readonly stop_grace_period: string }>
  >;
}
const { services } = parse(read('docker-compose.yml')) as Compose;

function one(objects: readonly KubernetesObject[], kind: string, name?: string): KubernetesObject {
  const found = objects.filter(
    (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  expect(found.map((object) => object.kind)).toEqual([kind]);
  return found[0] as KubernetesObject;
}

const podsOf = (objects: readonly KubernetesObject[]): [string, PodSpec][] =>
  objects.flatMap(({ kind, spec }): [string, PodSpec][] =>
    spec?.template ? [[kind, spec.template.spec]] : [],
  );

function podOf({ kind, spec }: KubernetesObject): PodSpec {
  if (!spec.template) throw new Error(`a ${kind} has no pods`);
  return spec.template.spec;
}

function containerOf(object: KubernetesObject): Container {
  const [container] = podOf(object).containers;
  if (!container) throw new Error(`the pods of a ${object.kind} have no container`);
  return container;
}

/** The keys of the secret that a container reads, by the `_FILE` variables of its own and of the config maps. */
function secretKeysOf(objects: readonly KubernetesObject[], container: Container): string[] {
  const maps = (container.envFrom ?? []).map(({ configMapRef }) =>
    one(objects, 'ConfigMap', configMapRef.name),
  );
  const variables = Object.fromEntries([
    ...maps.flatMap(({ data = {} }) => Object.entries(data)),
    ...(container.env ?? []).map(({ name, value }): [string, string] => [name, value]),
  ]);
  return Object.entries(variables)
    .filter(([name]) => name.endsWith('_FILE'))
    .map(([, path]) => {
      expect(path).toContain(MOUNTED_SECRET);
      return path.slice(MOUNTED_SECRET.length);
    });
}

const includes = (labels: Labels, selector: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

describe('the types of Kubernetes', () => {
  const service: Identified = { apiVersion: 'v1', kind: 'Service' };
  const changed = (change: object): Identified => ({ ...service, ...change });

  it('accept what a manifest may have', () => {
    const ports = [
      { port: 80, targetPort: 'http' },
      { port: 81, targetPort: 3000 },
    ];
    expect(schemas.problemsOf(changed({ spec: { ports, selector: { a: 'b' } } }))).toEqual([]);
  });

  it.each([
    ['an unknown field', { spec: { port: 80 } }, '/spec must NOT have additional properties'],
    ['a wrong type', { spec: { ports: [{ port: '80' }] } }, '/spec/ports/0/port must be integer'],
    ['a number as a label', { spec: { selector: { a: 1 } } }, '/spec/selector/a must be string'],
    ['a missing field', { spec: { ports: [{}] } }, "/spec/ports/0 must have required property 'port'"],
    ['another kind', { kind: 'Services' }, 'is no type of Kubernetes'],
    ['another version', { apiVersion: 'v2' }, 'no such file'],
  ])('reject %s', (_name, change, problem) => {
    const problems = (): string => {
      try {
        return schemas.problemsOf(changed(change)).join('\n');
      } catch (error) {
        return String(error);
      }
    };
    expect(problems()).toContain(problem);
  });
});

it('the network policy opens no link-local address but the name server of the node', () => {
  const { spec } = parse(read('deploy/kubernetes/base/network-policy.yaml')) as {
    readonly spec: {
      readonly egress: readonly {
        readonly to?: readonly { readonly ipBlock?: { readonly cidr: string; readonly except?: string[] } }[];
        readonly ports: readonly { readonly port: number }[];
      }[];
    };
  };
  const blocks = spec.egress.flatMap(({ to = [], ports }) =>
    to.flatMap(({ ipBlock }) => (ipBlock ? [{ ...ipBlock, ports: ports.map(({ port }) => port) }] : [])),
  );
  expect(blocks).toEqual([
    { cidr: '169.254.20.10/32', ports: [53, 53] },
    { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'], ports: [443] },
    { cidr: '::/0', except: ['fe80::/10', 'fd00:ec2::254/128'], ports: [443] },
  ]);
});

built.each([
  [
    'base',
    ['ConfigMap', 'Deployment', 'Job', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
  ],
  ['overlays/production', ['HorizontalPodAutoscaler', 'Namespace']],
  ['overlays/development', ['Namespace', 'Secret', 'StatefulSet']],
  ['overlays/example', ['HorizontalPodAutoscaler', 'Namespace', 'PodMonitor']],
])('%s', (folder, kinds) => {
  let objects: KubernetesObject[];
  beforeAll(() => {
    objects = buildManifests(folder);
  });
  const deployment = (): KubernetesObject => one(objects, 'Deployment');
  const labels = (): Labels => deployment().spec.template?.metadata.labels ?? {};

  it('has the kinds that it promises, all of them valid', () => {
    expect(objects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kinds));
    // A resource of an operator, whose types Kubernetes does not have.
    for (const object of objects.filter(({ kind }) => kind !== 'PodMonitor'))
      expect([object.kind, schemas.problemsOf(object)]).toEqual([object.kind, []]);
  });

  it('names container ports in probes and in the service', () => {
    const { ports = [], startupProbe, livenessProbe, readinessProbe } = containerOf(deployment());
    const names = ports.map(({ name }) => name);
    for (const probe of [startupProbe, livenessProbe, readinessProbe])
      expect(names).toContain(probe?.httpGet.port);
    const service = one(objects, 'Service', 'signalbox').spec;
    expect(service.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
    expect(names).toContain('http');
    const admitted = one(objects, 'NetworkPolicy', 'signalbox').spec.ingress ?? [];
    expect(admitted.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(
      ports.map(({ containerPort }) => containerPort),
    );
  });

  it('selects the pods of the service everywhere, and no others', () => {
    const migration = one(objects, 'Job').spec.template?.metadata.labels ?? {};
    const selectors = objects
      .filter(({ metadata }) => metadata.name.startsWith('signalbox'))
      .flatMap(({ kind, spec }) => {
        const selector = spec?.podSelector?.matchLabels ?? spec?.selector?.matchLabels ?? spec?.selector;
        return selector ? [{ kind, selector }] : [];
      });
    expect(selectors.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service']),
    );
    for (const { kind, selector } of selectors) {
      expect([kind, includes(labels(), selector)]).toEqual([kind, true]);
      expect([kind, includes(migration, selector)]).toEqual([kind, false]);
    }
    for (const { spec } of objects.filter(({ kind }) => kind === 'StatefulSet'))
      expect(includes(spec.template?.metadata.labels ?? {}, spec.selector?.matchLabels ?? {})).toBe(true);
  });

  it('scales the deployment', () => {
    const scalers = objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    for (const { spec } of scalers)
      expect(spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: deployment().metadata.name });
    expect(scalers.length).toBe(kinds.includes('HorizontalPodAutoscaler') ? 1 : 0);
  });

  it('mounts volumes that exist', () => {
    for (const object of objects.filter(({ spec }) => spec?.template)) {
      const templates = object.spec.volumeClaimTemplates ?? [];
      const { volumes = [], containers } = podOf(object);
      const names = [...volumes.map(({ name }) => name), ...templates.map(({ metadata }) => metadata.name)];
      for (const { volumeMounts = [] } of containers)
        expect(names).toEqual(expect.arrayContaining(volumeMounts.map(({ name }) => name)));
    }
  });

  it('gives no pod a token of the API', () => {
    const tokens = podsOf(objects).map(([kind, pod]) => [kind, pod.automountServiceAccountToken]);
    expect(tokens).toEqual(podsOf(objects).map(([kind]) => [kind, false]));
    const account = deployment().spec.template?.spec.serviceAccountName;
    expect(one(objects, 'ServiceAccount').metadata.name).toBe(account);
  });

  it('needs nothing of this folder in a job that runs before the sync', () => {
    const job = one(objects, 'Job');
    const { serviceAccountName = null, volumes = [] } = podOf(job);
    expect(containerOf(job).envFrom).toBeUndefined();
    expect(serviceAccountName).toBeNull();
    const secrets = volumes.flatMap(({ secret }) => (secret ? [secret.secretName] : []));
    expect(secrets).toHaveLength(1);
    const hasOwn = objects.some(({ kind, metadata }) => kind === 'Secret' && secrets.includes(metadata.name));
    const hook = job.metadata.annotations?.['argocd.argoproj.io/hook'];
    expect(hook).toBe(hasOwn ? undefined : 'PreSync');
  });

  it('reads keys that the secret has', () => {
    const used = [deployment(), one(objects, 'Job')].flatMap((object) =>
      secretKeysOf(objects, containerOf(object)),
    );
    expect(used).toEqual(expect.arrayContaining(['database-url', 'encryption-keys']));
    const own = objects.find(({ kind }) => kind === 'Secret');
    // An operator makes the others as the documentation says.
    const keys = own
      ? Object.keys(own.data ?? {})
      : [...read('deploy/README.md').matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
    expect(keys).toEqual(expect.arrayContaining(used));
  });

  it('has variables that the service knows, with values that it accepts', () => {
    const { name } = containerOf(deployment()).envFrom?.[0]?.configMapRef ?? {};
    const data = one(objects, 'ConfigMap', name).data ?? {};
    const known = Object.keys(services['signalbox']?.environment ?? {});
    expect(known).toEqual(expect.arrayContaining(Object.keys(data).map((key) => key.replace(/_FILE$/, ''))));
    const values = Object.entries(data).filter(([key]) => !key.endsWith('_FILE'));
    expect(() => readConfig(Object.fromEntries(values))).not.toThrow();
  });
});

function readConfig(variables: Labels = {}): ReturnType<typeof readAppConfig> {
  return readAppConfig(
    {
      DATABASE_URL: 'postgresql://signalbox@postgres/signalbox',
      ENCRYPTION_KEYS: TEST_ENCRYPTION_KEY,
      ...variables,
    },
    PROVIDERS.map(({ slug }) => slug),
  );
}

built('components', () => {
  const portsOf = (objects: readonly KubernetesObject[], name: string): number[] =>
    (one(objects, 'NetworkPolicy', name).spec.egress ?? []).flatMap((rule) =>
      rule.ports.map(({ port }) => port),
    );

  it.each([
    ['pooler', [6432]],
    ['history', [8123, 8443]],
    ['tracing', [4318]],
    ['proxy', [3128, 8080]],
  ])('%s admits requests to %j', (name, ports) => {
    const objects = buildOverlay({ resources: ['base'], components: [`components/${name}`] });
    const policy = one(objects, 'NetworkPolicy', `signalbox-${name}`);
    expect(schemas.problemsOf(policy)).toEqual([]);
    expect(portsOf(objects, policy.metadata.name)).toEqual(ports);
    const labels = one(objects, 'Deployment').spec.template?.metadata.labels ?? {};
    expect(includes(labels, policy.spec.podSelector?.matchLabels ?? {})).toBe(true);
    // Without the component they are blocked.
    expect(portsOf(objects, 'signalbox').filter((port) => ports.includes(port))).toEqual([]);
  });

  it('prometheus-operator scrapes the port of the pods as the job of the alerts', () => {
    const objects = buildOverlay({ resources: ['base'], components: ['components/prometheus-operator'] });
    const monitor = one(objects, 'PodMonitor');
    const { template } = one(objects, 'Deployment').spec;
    const { labels } = template?.metadata ?? { labels: {} };
    expect(monitor.apiVersion).toBe('monitoring.coreos.com/v1');
    expect(monitor.spec).toEqual({
      jobLabel: 'app.kubernetes.io/name',
      selector: { matchLabels: labels },
      podMetricsEndpoints: [{ port: 'http', path: '/metrics', interval: '15s' }],
    });
    expect(labels['app.kubernetes.io/name']).toBe('signalbox');
    expect(read('deploy/prometheus/alerts.yaml')).toContain('up{job="signalbox"}');
  });

  it('prometheus-operator sends the token with the patch that is documented', () => {
    const objects = buildOverlay({
      resources: ['base'],
      components: ['components/prometheus-operator'],
      ...deploySnippet('patches'),
    });
    expect(one(objects, 'PodMonitor').spec).toMatchObject({
      podMetricsEndpoints: [
        { authorization: { credentials: { name: 'signalbox', key: 'metrics-bearer-token' } } },
      ],
    });
  });
});

describe('the time to stop', () => {
  const needed = shutdownTime(readConfig()) / 1000;
  const deployment = parse(read('deploy/kubernetes/base/deployment.yaml')) as KubernetesObject;

  it('of a pod covers the announcement, the grace and the rest of the shutdown', () => {
    expect(podOf(deployment).terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
    // A hook would come on top of the announcement.
    expect(containerOf(deployment)).not.toHaveProperty('lifecycle');
  });

  it('of a pod is announced for as long as the probe takes to notice', () => {
    const { periodSeconds = NaN, failureThreshold = NaN } = containerOf(deployment).readinessProbe ?? {};
    expect(periodSeconds * failureThreshold).toBeLessThanOrEqual(readConfig().shutdownAnnounce / 1000);
  });

  (hasKustomize() ? it : it.skip).each(['development', 'production', 'example'])(
    'of a pod is kept by the overlay %s',
    (overlay) => {
      const objects = buildManifests(`overlays/${overlay}`);
      const { terminationGracePeriodSeconds: seconds } = podOf(one(objects, 'Deployment', 'signalbox'));
      const config = readConfig(one(objects, 'ConfigMap').data);
      expect(seconds).toBeGreaterThanOrEqual(shutdownTime(config) / 1000);
    },
  );

  (hasKustomize() ? it : it.skip)(
    'of a pod is raised with the grace by the overlay that is documented',
    () => {
      const objects = buildOverlay({
        resources: ['overlays/production'],
        namespace: 'signalbox',
        ...deploySnippet('configMapGenerator'),
      });
      const config = readConfig(one(objects, 'ConfigMap').data);
      expect(config.shutdownGrace).toBeGreaterThan(readConfig().shutdownGrace);
      const pod = podOf(one(objects, 'Deployment'));
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(shutdownTime(config) / 1000);
    },
  );

  it('of a container of the composition covers the announcement, the grace and the rest of the shutdown', () => {
    const [, seconds] = /^(\d+)s$/.exec(services['signalbox']?.stop_grace_period ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(needed);
  });

  it('is documented with its distance from SHUTDOWN_GRACE_MS', () => {
    const distance = shutdownTime({ ...readConfig(), shutdownGrace: 0 }) / 1000;
    expect(read('docs/operating.md')).toContain(`Give it ${distance} s more than \`SHUTDOWN_GRACE_MS\``);
  });
});
