import { Injectable } from '@nestjs/common';
import type { Caller } from '../domain/keys/api-key.js';
import type { AccountCredits } from '../domain/spend/spend.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';

@Injectable()
export class CreditsService {
  constructor(private readonly accounts: AccountsRepository) {}

  get({ key }: Caller): Promise<AccountCredits> {
    return this.accounts.getCredits(key.accountId);
  }
}
