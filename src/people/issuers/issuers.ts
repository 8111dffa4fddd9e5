// The issuers that the operator configures (docs/sign-in.md).
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { HttpClient } from '../../outbound/http-client.js';
import { issuerFetch } from './issuer-fetch.js';
import { Issuer } from './issuer.js';

@Injectable()
export class Issuers {
  private readonly byId: ReadonlyMap<string, Issuer>;

  constructor({ signIn }: AppConfig, http: HttpClient, clock: Clock) {
    const fetch = issuerFetch(http);
    this.byId = new Map(
      signIn?.providers.map((config) => {
        const redirectUrl = `${signIn.publicUrl}/console/sign-in/${config.id}/callback`;
        return [config.id, new Issuer(config, redirectUrl, fetch, clock)];
      }),
    );
  }

  get all(): readonly Issuer[] {
    return [...this.byId.values()];
  }

  find(id: string): Issuer | null {
    return this.byId.get(id) ?? null;
  }
}
