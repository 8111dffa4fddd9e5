// The files of deploy/: up to date, accepted by the tools that read them, and made of metrics that exist.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { parse, stringify } from 'yaml';
import { Metrics } from '../../src/config/metrics.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { deploySnippet } from '../support/deploy/deploy-snippet.js';

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

// Without promtool nothing checks what follows; .ci/run installs it.
const withPromtool = isInstalled('promtool', '--version') ? it : it.skip;
const promtool = (...options: string[]): string =>
  execFileSync('promtool', options, { stdio: 'pipe' }).toString();

describe('alerts', () => {
  withPromtool('are accepted by promtool', () => {
    const path = inRepository('deploy/prometheus/alerts.yaml');
    expect(promtool('check', 'rules', path)).toContain('SUCCESS');
  });

  withPromtool('fire and stay silent as their tests want', () => {
    const path = inRepository('deploy/prometheus/alerts.test.yaml');
    expect(promtool('test', 'rules', path)).toContain('SUCCESS');
  });
});

interface PrometheusConfig {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly authorization: { readonly credentials_file: string };
    readonly kubernetes_sd_configs?: unknown;
  }[];
}

interface ComposeFile {
  readonly services: {
    readonly prometheus: {
      readonly environment: Readonly<Record<string, string>>;
      readonly command: readonly string[];
    };
  };
}

describe('the configuration of Prometheus', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'prometheus-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const check = (text: string): string => {
    const path = join(directory, 'prometheus.yaml');
    writeFileSync(path, text);
    return promtool('check', 'config', path);
  };

  withPromtool('of the composition is accepted by promtool, with the token in a file', () => {
    const token = join(directory, 'token');
    writeFileSync(token, 'none');
    copyFileSync(inRepository('deploy/prometheus/alerts.yaml'), join(directory, 'alerts.yaml'));
    const text = read('deploy/prometheus/prometheus.yaml');
    expect(check(text.replace('/tmp/metrics-bearer-token', token))).toContain('SUCCESS');
    expect(() => check(text.replace('/tmp/metrics-bearer-token', `${token}-missing`))).toThrow('missing');
  });

  it('of the composition has the token, and a placeholder where none is set', () => {
    const { scrape_configs: jobs } = parse(read('deploy/prometheus/prometheus.yaml')) as PrometheusConfig;
    const { environment, command } = (parse(read('docker-compose.yml')) as ComposeFile).services.prometheus;
    expect(environment).toEqual({ METRICS_BEARER_TOKEN: '${METRICS_BEARER_TOKEN:-none}' });
    const [, token = ''] = /"\$\$METRICS_BEARER_TOKEN" > (\S+)/.exec(command.join()) ?? [];
    expect(jobs.map(({ authorization }) => authorization.credentials_file)).toEqual([token]);
  });

  withPromtool('for pods scrapes those of the service, as the job of the alerts', () => {
    const { scrape_configs: jobs } = deploySnippet('scrape_configs') as unknown as PrometheusConfig;
    const [{ kubernetes_sd_configs: discovery, ...job } = { kubernetes_sd_configs: null }] = jobs;
    expect(discovery).toEqual([{ role: 'pod', namespaces: { names: ['signalbox'] } }]);
    // Debian's build has no discovery of Kubernetes: the labels that it would set are those of static targets.
    const pod = (component: string, port: string) => ({
      targets: [`${component}:3000`],
      labels: {
        __meta_kubernetes_namespace: 'signalbox',
        __meta_kubernetes_pod_name: `${component}-a`,
        __meta_kubernetes_pod_label_app_kubernetes_io_name: 'signalbox',
        __meta_kubernetes_pod_label_app_kubernetes_io_component: component,
        __meta_kubernetes_pod_container_port_name: port,
      },
    });
    const targets = [pod('gateway', 'http'), pod('migration', 'http'), pod('gateway', 'sidecar')];
    const path = join(directory, 'pods.yaml');
    writeFileSync(path, stringify({ scrape_configs: [{ ...job, static_configs: targets }] }));
    expect(promtool('check', 'config', path)).toContain('SUCCESS');
    const found = JSON.parse(
      promtool('check', 'service-discovery', '--timeout=1s', path, 'signalbox'),
    ) as readonly { readonly labels: Readonly<Record<string, string>> | null }[];
    expect(found.flatMap(({ labels }) => (labels?.['job'] ? [labels] : []))).toEqual([
      expect.objectContaining({
        job: 'signalbox',
        instance: 'gateway:3000',
        namespace: 'signalbox',
        pod: 'gateway-a',
        __metrics_path__: '/metrics',
      }),
    ]);
  });
});

describe('the metric of the autoscaler', () => {
  interface AdapterRule {
    readonly seriesQuery: string;
    readonly name: { readonly as: string };
    readonly metricsQuery: string;
  }
  const { rules: adapterRules } = deploySnippet('rules') as unknown as { rules: [AdapterRule] };
  const [{ seriesQuery, name, metricsQuery }] = adapterRules;
  /** As prometheus-adapter asks for the pods of a namespace. */
  const query = metricsQuery
    .replace('<<.Series>>', seriesQuery.replace(/\{.*/, ''))
    .replace('<<.LabelMatchers>>', 'namespace="signalbox",pod=~"a|b"')
    .replace('<<.GroupBy>>', 'pod');

  it('is the one that the adapter makes', () => {
    expect(read('deploy/kubernetes/overlays/production/horizontal-pod-autoscaler.yaml')).toContain(
      `name: ${name.as}\n`,
    );
    expect(seriesQuery).toContain('signalbox_http_in_flight{');
  });

  withPromtool('counts calls and chats of each pod, and no other requests', () => {
    const directory = mkdtempSync(join(tmpdir(), 'adapter-'));
    const series = (pod: string, group: string, count: number): object => ({
      series: `signalbox_http_in_flight{namespace="signalbox",pod="${pod}",group="${group}"}`,
      values: String(count),
    });
    const test = {
      rule_files: [],
      tests: [
        {
          interval: '15s',
          input_series: [
            series('a', 'calls', 3),
            series('a', 'chats', 4),
            series('a', 'operations', 50),
            series('a', 'metrics', 1),
            series('b', 'chats', 2),
            series('c', 'calls', 9),
          ],
          promql_expr_test: [
            {
              expr: query,
              eval_time: '0s',
              exp_samples: [
                { labels: '{pod="a"}', value: 7 },
                { labels: '{pod="b"}', value: 2 },
              ],
            },
          ],
        },
      ],
    };
    try {
      const path = join(directory, 'adapter.test.yaml');
      writeFileSync(path, stringify(test));
      expect(promtool('test', 'rules', path)).toContain('SUCCESS');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

interface PostmanItem {
  readonly item: readonly {
    readonly request: {
      readonly method: string;
      readonly url: { readonly raw: string };
      readonly body?: { readonly raw: string } | { readonly urlencoded: readonly object[] };
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
  for (const { body } of requests) {
    if (!body) continue;
    if ('urlencoded' in body) expect(body.urlencoded.length).toBeGreaterThan(0);
    else expect(JSON.parse(body.raw)).toBeInstanceOf(Object);
  }
});
