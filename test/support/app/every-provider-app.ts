// The whole service before the stubs of all providers, for the suites of the clients.
import { expect } from '@jest/globals';
import { createTestApp } from './app.js';
import type { TestApp } from './app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { inHouseCatalogue, startEveryProvider } from '../routing/every-provider.js';
import type { EveryProvider } from '../routing/every-provider.js';
import type { ProviderRow } from '../providers/rows.js';
import { vectorOf } from '../providers/vectors.js';

export interface EveryProviderApp {
  readonly app: TestApp;
  readonly providers: EveryProvider;
  close(): Promise<void>;
}

export async function startAppWithEveryProvider(): Promise<EveryProviderApp> {
  const providers = await startEveryProvider();
  const app = await withCatalogueFile(inHouseCatalogue(), (file) =>
    // A failure is reported at once: some of the stubs send a Retry-After that no test wants to wait for.
    createTestApp({ environment: { ...providers.environment, CATALOGUE_FILE: file, PROVIDER_RETRIES: '0' } }),
  );
  return {
    app,
    providers,
    close: async () => {
      await app.close();
      await providers.close();
    },
  };
}

/** One vector for each of the contents, in their order, with the numbers that the stub gives. */
export function expectVectors(
  vectors: readonly (readonly number[])[],
  row: ProviderRow,
  contents: readonly unknown[],
  width: number = row.width,
): void {
  expect(vectors.map(({ length }) => length)).toEqual(contents.map(() => width));
  vectors.forEach((vector, index) => {
    const expected = vectorOf(contents[index], row.width, width);
    const off = expected.map((value, at) => Math.abs(value - (vector[at] ?? NaN)));
    // Where the service cuts and scales, the last digit may differ.
    expect(Math.max(...off)).toBeLessThan(1e-6);
  });
}
