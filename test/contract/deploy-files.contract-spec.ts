// The files of deploy/: up to date, accepted by the tools that read them, and made of metrics that exist.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { parse, parseAllDocuments } from 'yaml';
import { Metrics } from '../../src/config/metrics.js';
import { createTestApp } from '../support/app.js';
import type { TestApp } from '../support/app.js';

const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(inRepository(path), 'utf8');

function isInstalled(program: string, ...options: string[]): boolean {
  return spawnSync(program, options, { stdio: 'ignore' }).status === 0;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const rules = (
  parse(read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const panels = (JSON.parse(read('deploy/grafana/signalbox.json')) as Dashboard).panels;
const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
];

it('are up to date', () => {
  expect(() =>
    execFileSync(process.execPath, [inRepository('scripts/deploy-files.mjs'), '--check']),
  ).not.toThrow();
});

describe('queries', () => {
  // Set by Prometheus: of the scrape, and the bound of a bucket.
  const FOREIGN_LABELS = ['job', 'instance', 'le'];
  const SUFFIXES = /_(?:bucket|sum|count)$/;
  let app: TestApp;
  let labelsOf: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    app = await createTestApp();
    const ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    const metrics = [app.application.get(Metrics).registry, ofProcess].flatMap(
      (registry) => registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[],
    );
    labelsOf = new Map(metrics.map(({ name, labelNames }) => [name, labelNames]));
  });
  afterAll(() => app.close());

  it.each(expressions)('%s: %s names metrics and labels that exist', (_title, expression) => {
    const names = expression.match(/\b(?:signalbox|nodejs|process)_\w+/g) ?? [];
    const known = names.map((name) => labelsOf.get(name) ?? labelsOf.get(name.replace(SUFFIXES, '')));
    expect(names.filter((_name, index) => known[index] === undefined)).toEqual([]);
    const allowed = new Set([...FOREIGN_LABELS, ...known.flatMap((labels) => labels ?? [])]);
    const inMatchers = [...expression.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(
      ([, label = '']) => label,
    );
    const inGroups = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
      labels.split(/,\s*/),
    );
    expect([...inMatchers, ...inGroups].filter((label) => !allowed.has(label))).toEqual([]);
    expect(names.length > 0 || expression.startsWith('up{')).toBe(true);
  });
});

describe('alerts', () => {
  const hasPromtool = isInstalled('promtool', '--version');
  // Without Prometheus on the machine there is no judge.
  const judged = hasPromtool ? it : it.skip;
  judged('are accepted by promtool', () => {
    const path = inRepository('deploy/prometheus/alerts.yaml');
    expect(execFileSync('promtool', ['check', 'rules', path]).toString()).toContain('SUCCESS');
  });

  judged('fire and stay silent as their tests want', () => {
    const path = inRepository('deploy/prometheus/alerts.test.yaml');
    expect(execFileSync('promtool', ['test', 'rules', path]).toString()).toContain('SUCCESS');
  });
});

interface PostmanItem {
  readonly item: readonly {
    readonly request: {
      readonly method: string;
      readonly url: { readonly raw: string };
      readonly body?: { raw: string };
    };
  }[];
}

it('the Postman collection has a request for each operation, with an example body', () => {
  const { paths } = JSON.parse(read('openapi.json')) as { paths: Record<string, Record<string, object>> };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  const collection = JSON.parse(read('deploy/postman/signalbox.postman_collection.json')) as {
    item: PostmanItem[];
  };
  const requests = collection.item.flatMap(({ item }) => item.map(({ request }) => request));
  const named = requests.map(({ method, url }) => `${method} ${url.raw.replace('{{baseUrl}}', '')}`);
  expect(named.toSorted()).toEqual(operations.toSorted());
  for (const { body } of requests) if (body) expect(JSON.parse(body.raw)).toBeInstanceOf(Object);
});

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly template?: { readonly spec: PodSpec } };
}
interface PodSpec {
  readonly containers: readonly { readonly env?: readonly { readonly name: string }[] }[];
}

describe('Kubernetes manifests', () => {
  const judged = isInstalled('kubectl', 'version', '--client') ? it : it.skip;
  const build = (folder: string): KubernetesObject[] =>
    parseAllDocuments(
      execFileSync('kubectl', ['kustomize', inRepository(`deploy/kubernetes/${folder}`)]).toString(),
    ).map((document) => document.toJS() as KubernetesObject);

  judged.each([
    [
      'base',
      ['ConfigMap', 'Deployment', 'Job', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
    ],
    ['overlays/production', ['HorizontalPodAutoscaler', 'Namespace']],
    ['overlays/development', ['Namespace', 'Secret', 'StatefulSet']],
  ])('%s are built', (folder, kinds) => {
    const built = build(folder);
    expect(built.map(({ kind }) => kind)).toEqual(expect.arrayContaining(kinds));
    const secrets = built
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
      .flatMap(({ env = [] }) => env);
    expect(secrets.map(({ name }) => name)).toContain('DATABASE_URL_FILE');
  });
});
