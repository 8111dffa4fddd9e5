// Reads single generations from the log.
import { Injectable } from '@nestjs/common';
import type { CallerTrace, Generation, GenerationAttempt, RequestContext } from '../domain/generation.js';
import { parseUsd } from '../domain/money.js';
import { Database } from './database.js';
import type { Generation as GenerationRow, Prisma } from './generated/client.js';

@Injectable()
export class GenerationsRepository {
  constructor(private readonly database: Database) {}

  /**
   * By the whole primary key: the workspaces of the account, the moment, which names the one partition that is looked
   * into, and the id.
   */
  async find(
    accountId: string,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const workspaces = await this.database.prisma.workspace.findMany({
      select: { id: true },
      where: { accountId },
    });
    const workspaceIds = workspaces.map((workspace) => workspace.id);
    const row = await this.database.prisma.generation.findFirst({
      where: { workspaceId: { in: workspaceIds }, createdAt, id },
    });
    return row && toGeneration(row);
  }
}

function toGeneration(row: GenerationRow): Generation {
  const { logTransaction: _transaction, logOrdinal: _ordinal, ...members } = row;
  return {
    ...members,
    operation: 'embeddings',
    encodingFormat: row.encodingFormat === 'base64' ? 'base64' : 'float',
    cost: toUsd(row.cost),
    upstreamCost: toUsd(row.upstreamCost),
    trace: row.trace as CallerTrace | null,
    requestContext: row.requestContext as RequestContext | null,
    attempts: (row.attempts ?? []) as unknown as GenerationAttempt[],
  };
}

function toUsd(amount: Prisma.Decimal | null): bigint | null {
  return amount === null ? null : parseUsd(amount.toFixed());
}
