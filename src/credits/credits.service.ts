// What is told of an account's credits.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../domain/api-key.js';
import type { AccountCredits } from '../domain/spend.js';
import { AccountsRepository } from '../persistence/accounts.repository.js';

@Injectable()
export class CreditsService {
  constructor(private readonly accounts: AccountsRepository) {}

  get({ key }: Caller): Promise<AccountCredits> {
    return this.accounts.getCredits(key.accountId);
  }
}
