// The identity providers that the operator configures (docs/sign-in.md), and those of an account. Without a name of an account a provider signs in to the only one.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { HttpClient } from '../outbound/http-client.js';
import { SignInsRepository } from '../persistence/people/sign-ins.repository.js';
import { issuerFetch } from './issuers/issuer-fetch.js';
import { Issuer } from './issuers/issuer.js';

@Injectable()
export class SignInProviders {
  readonly all: readonly Issuer[];

  constructor(
    private readonly signIns: SignInsRepository,
    { signIn }: AppConfig,
    http: HttpClient,
    clock: Clock,
  ) {
    const fetch = issuerFetch(http);
    this.all = (signIn?.providers ?? []).map((config) => {
      const redirectUrl = `${signIn?.publicUrl}/console/sign-in/${config.id}/callback`;
      return new Issuer(config, redirectUrl, fetch, clock);
    });
  }

  find(id: string): Issuer | null {
    return this.all.find(({ config }) => config.id === id) ?? null;
  }

  async ofAccount(accountId: string): Promise<readonly Issuer[]> {
    const isUnnamed = this.all.some(({ config }) => config.accountId === null);
    const only = isUnnamed ? await this.signIns.findOnlyAccount() : null;
    return this.all.filter(({ config }) => (config.accountId ?? only) === accountId);
  }

  /** Null: none signs in to the account by the issuer. */
  async findByIssuer(issuer: string, accountId: string): Promise<Issuer | null> {
    return (await this.ofAccount(accountId)).find(({ config }) => config.issuer === issuer) ?? null;
  }

  /** The account that the provider signs in to; null: there is none, or none is named and there are several. */
  async accountOf({ config: { accountId } }: Issuer): Promise<string | null> {
    if (accountId === null) return this.signIns.findOnlyAccount();
    return (await this.signIns.hasAccount(accountId)) ? accountId : null;
  }
}
