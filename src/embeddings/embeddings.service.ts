// POST /embeddings: a call that reaches its providers leaves one committed generation before its answer leaves.
import { Injectable } from '@nestjs/common';
import { StorageUsage } from '../persistence/contents/storage-usage.js';
import type { EmbeddingCall, WrittenAnswer } from './embedding-call.js';
import { EmbeddingRuns } from './embedding-run.js';

@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly storage: StorageUsage,
    private readonly runs: EmbeddingRuns,
  ) {}

  /** Throws the failure of a call, with the id of its generation. */
  async create(call: EmbeddingCall): Promise<WrittenAnswer> {
    this.storage.rejectAboveLogQuota(call.caller.key.workspaceId);
    const run = this.runs.begin(call);
    try {
      const route = await run.plan();
      await run.reserve(route);
      const executed = await run.execute(route);
      return await run.settle(executed);
    } catch (failure) {
      throw run.toCallerError(failure);
    } finally {
      run.close();
    }
  }
}
