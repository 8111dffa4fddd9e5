import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Rolldown } from 'vite';
import { firstPaint } from './first-paint-plugin';
import { destinationKinds } from './kinds-plugin';

type ModuleContext = Pick<Rolldown.PluginContext, 'getModuleInfo'>;

const FIRST_PAGE = fileURLToPath(new URL('src/pages/overview/overview-page.tsx', import.meta.url));

/** Modules that this one needs, itself among them, by the module. */
const needs = new Map<string, ReadonlySet<string>>();

function needsOf(id: string, context: ModuleContext): ReadonlySet<string> {
  const known = needs.get(id);
  if (known !== undefined) return known;
  const found = new Set([id]);
  // A set takes what is added while it is walked.
  for (const module of found)
    for (const imported of context.getModuleInfo(module)?.importedIds ?? []) found.add(imported);
  needs.set(id, found);
  return found;
}

/** Of what pages share: the part that the first page needs, the large packages of forms and dialogs, and the rest. */
function sharedChunk(id: string, context: ModuleContext): string {
  if (needsOf(FIRST_PAGE, context).has(id)) return 'first';
  const needsForms = [...needsOf(id, context)].some((module) => module.includes('@base-ui'));
  return needsForms ? 'forms' : 'shared';
}

export default defineConfig({
  // The service writes the whole path into the page, and chunks find one another by their own addresses.
  base: './',
  plugins: [react(), firstPaint(), destinationKinds],
  build: {
    target: 'es2022',
    // The policy of the pages allows no inline data but images (docs/contract.md).
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
    // One file: the frame needs most of it, and no page waits for its own.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // One chunk a page, beside what every page needs and what several share.
          groups: [
            { name: 'index', tags: ['$initial'], priority: 1 },
            {
              name: sharedChunk,
              debugName: 'shared by pages',
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:3000',
      '/console': 'http://127.0.0.1:3000',
      '/health': 'http://127.0.0.1:3000',
    },
  },
});
