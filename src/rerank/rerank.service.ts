// POST /rerank: a call that reaches its providers leaves one committed generation before its answer leaves.
import { Injectable } from '@nestjs/common';
import { StorageUsage } from '../persistence/contents/storage-usage.js';
import { RerankRuns } from './rerank-run.js';
import type { RerankCallInput, SettledRerank } from './rerank-run.js';

@Injectable()
export class RerankService {
  constructor(
    private readonly storage: StorageUsage,
    private readonly runs: RerankRuns,
  ) {}

  /** Throws the failure of a call, with the id of its generation. */
  async create(call: RerankCallInput): Promise<SettledRerank> {
    this.storage.rejectAboveLogQuota(call.caller.key.workspaceId);
    const run = this.runs.begin(call);
    try {
      const route = await run.reserve(await run.plan());
      return await run.settle(await run.execute(route));
    } catch (failure) {
      throw run.toCallerError(failure);
    } finally {
      run.close();
    }
  }
}
