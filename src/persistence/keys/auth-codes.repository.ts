// Codes that programs exchange for keys.
import { Injectable } from '@nestjs/common';
import { MAX_CODES_PER_ACCOUNT } from '../../domain/keys/auth-code.js';
import type { AuthCode } from '../../domain/keys/auth-code.js';
import { AppError } from '../../domain/errors.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import { Database } from '../database/database.js';
import { lockAccount } from '../database/rows/row-lock.js';
import type { AuthCodeModel } from '../generated/models.js';
import { toUsd } from '../spend/spend-row.js';
import { TAKE_AUTH_CODE } from './auth-code-statements.js';
import { toAmount } from './key-writes.js';

@Injectable()
export class AuthCodesRepository {
  constructor(private readonly database: Database) {}

  /** Throws `limit_reached` while the account has as many live codes as it may have. */
  async create(codeHash: string, { accountId, maker, terms, ...code }: AuthCode): Promise<void> {
    await this.database.transact(async (transaction) => {
      // Concurrent creations of the account wait here, so that the limit is exact.
      await lockAccount(transaction, accountId);
      const live = { accountId, expiresAt: { gt: code.createdAt } };
      if ((await transaction.authCode.count({ where: live })) >= MAX_CODES_PER_ACCOUNT)
        throw new AppError('limit_reached', {
          detail: `the account has ${MAX_CODES_PER_ACCOUNT} unused codes, which is the limit; each ends after 5 minutes`,
        });
      await transaction.authCode.create({
        data: {
          codeHash,
          accountId,
          maker,
          workspaceId: terms.workspaceId,
          codeChallenge: code.codeChallenge,
          keyLabel: terms.label,
          limit: toAmount(terms.limit),
          limitReset: terms.limitReset,
          keyExpiresAt: terms.expiresAt,
          createdAt: code.createdAt,
          expiresAt: code.expiresAt,
        },
      });
    }, accountId);
  }

  /** Of several attempts at once only one gets the code, and none gets it again. Null: there is no such code. */
  async take(codeHash: string): Promise<AuthCode | null> {
    const [row] = await this.database.query<AuthCodeRow & Record<string, unknown>>({
      name: 'take-auth-code',
      text: TAKE_AUTH_CODE,
      values: [codeHash],
    });
    return row ? toAuthCode(row) : null;
  }
}

type AuthCodeRow = Omit<AuthCodeModel, 'codeHash' | 'limit'> & { readonly limit: string | null };

function toAuthCode(row: AuthCodeRow): AuthCode {
  return {
    accountId: row.accountId,
    maker: row.maker,
    codeChallenge: row.codeChallenge,
    terms: {
      workspaceId: row.workspaceId,
      label: row.keyLabel,
      limit: row.limit === null ? null : toUsd(row.limit),
      limitReset: LIMIT_RESETS.find((reset) => reset === row.limitReset) ?? null,
      expiresAt: row.keyExpiresAt,
    },
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
  };
}
