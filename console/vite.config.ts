import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';
import { destinationKinds } from './kinds-plugin';

/** Without it the empty page is painted in the system's theme before the script applies the chosen one. */
const blockRendering: Plugin = {
  name: 'block-rendering',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

export default defineConfig({
  // The service writes the whole path into the page, and chunks find one another by their own addresses.
  base: './',
  plugins: [react(), blockRendering, destinationKinds],
  build: {
    target: 'es2022',
    // The policy of the pages allows no inline data but images (docs/contract.md).
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
  },
  server: {
    proxy: {
      '/api': 'http://127.0.0.1:3000',
      '/console': 'http://127.0.0.1:3000',
      '/health': 'http://127.0.0.1:3000',
    },
  },
});
