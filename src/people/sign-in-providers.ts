// The identity providers of an account. Without a name of an account a provider signs in to the only one.
import { Injectable } from '@nestjs/common';
import { SignInsRepository } from '../persistence/people/sign-ins.repository.js';
import { Issuers } from './issuers/issuers.js';
import type { Issuer } from './issuers/issuer.js';

@Injectable()
export class SignInProviders {
  constructor(
    private readonly issuers: Issuers,
    private readonly signIns: SignInsRepository,
  ) {}

  get all(): readonly Issuer[] {
    return this.issuers.all;
  }

  find(id: string): Issuer | null {
    return this.issuers.find(id);
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
