import { Injectable } from '@nestjs/common';
import type { Manager } from '../domain/people/manager.js';
import type { AccountCredits } from '../domain/spend/spend.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';

@Injectable()
export class CreditsService {
  constructor(private readonly accounts: AccountsRepository) {}

  get({ accountId }: Manager): Promise<AccountCredits> {
    return this.accounts.getCredits(accountId);
  }
}
