// The lines at the start about providers: those that can serve, the variables that add one, and misspelt variables.
import { Logger } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { PROVIDERS } from '../providers/index.js';
import { misspeltVariables, requiredVariables } from '../providers/shared/variables.js';

export interface ProviderLines {
  /** Slugs. */
  readonly serving: readonly string[];
  /** The variables of each provider that cannot serve. */
  readonly missing: readonly string[];
  /** One sentence for each misspelt variable. */
  readonly warnings: readonly string[];
}

export function describeProviders(
  { providers }: Pick<AppConfig, 'providers'>,
  environment: Readonly<Record<string, string | undefined>>,
): ProviderLines {
  const isSet = (slug: string, name: string): boolean => {
    const settings = providers.get(slug);
    return (name.endsWith('_API_KEY') ? settings?.apiKey : settings?.baseUrl) !== undefined;
  };
  const all = PROVIDERS.map((provider) => {
    const required = requiredVariables(provider);
    return { slug: provider.slug, required, missing: required.filter((name) => !isSet(provider.slug, name)) };
  });
  const slugs = PROVIDERS.map(({ slug }) => slug);
  return {
    serving: all.filter(({ missing }) => missing.length === 0).map(({ slug }) => slug),
    missing: all.filter(({ missing }) => missing.length > 0).map(({ missing }) => missing.join(' with ')),
    warnings: misspeltVariables(environment, slugs).map(
      ({ name, meant }) => `${name} is not read; set ${meant} instead`,
    ),
  };
}

/** For a terminal. */
export function providerText({ serving, missing, warnings }: ProviderLines): string {
  return [
    `Providers that can serve: ${serving.map((slug) => (slug === 'local' ? 'local (local/hashing, local/echo)' : slug)).join(', ')}`,
    ...(missing.length === 0 ? [] : [`To add one, set its variable and start again: ${missing.join(', ')}`]),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ].join('\n');
}

/** For the service's log. */
export function logProviders({ serving, missing, warnings }: ProviderLines): void {
  const logger = new Logger('Providers');
  logger.log({ serving, missing }, 'providers that can serve; the variables in `missing` add others');
  for (const warning of warnings) logger.warn(warning);
}
