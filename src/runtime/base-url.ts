// The version prefix of the contract's operations, and the base URL of a replica.
import type { AppConfig } from '../config/app-config.js';

export const API_PREFIX = 'api/v1';

export function baseUrlOf(config: AppConfig, { port }: { readonly port: number }): string {
  const isEverywhere = config.host === '0.0.0.0' || config.host === '::';
  const host = isEverywhere ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/${API_PREFIX}`;
}
