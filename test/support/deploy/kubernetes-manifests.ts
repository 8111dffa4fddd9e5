// The manifests of deploy/kubernetes, as kustomize builds them.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';

const MANIFESTS = fileURLToPath(new URL('../../../deploy/kubernetes/', import.meta.url));

export interface Labels {
  readonly [name: string]: string;
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

export interface Container {
  readonly image: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

/** An object of any kind, with the members that some test reads. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Labels;
  };
  readonly data?: Labels;
  readonly spec: {
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly ports?: readonly { readonly targetPort?: string | number; readonly port: number }[];
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
    readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly egress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

/** Older ones lack components. */
export function hasKustomize(): boolean {
  const { stdout } = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  const [, major = '0'] = /"kustomizeVersion": "v(\d+)/.exec(stdout ?? '') ?? [];
  return Number(major) >= 5;
}

/** `folder`: below deploy/kubernetes. */
export const buildManifests = (folder: string): KubernetesObject[] => build(join(MANIFESTS, folder));

export interface Kustomization {
  /** Below deploy/kubernetes. */
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly [member: string]: unknown;
}

/** An overlay of an operator. */
export function buildOverlay({ resources, components = [], ...others }: Kustomization): KubernetesObject[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'overlay-')));
  const within = (path: string): string => relative(folder, join(MANIFESTS, path));
  const kustomization = {
    resources: resources.map(within),
    components: components.map(within),
    ...others,
  };
  try {
    writeFileSync(join(folder, 'kustomization.yaml'), stringify(kustomization));
    return build(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function build(folder: string): KubernetesObject[] {
  return parseAllDocuments(execFileSync('kubectl', ['kustomize', folder]).toString()).map(
    (document) => document.toJS() as KubernetesObject,
  );
}
