// Commits the settlements of chat calls: the record, its content where a destination needs it, and the notification.
import { Injectable } from '@nestjs/common';
import { GenerationPublisher } from '../../deliveries/generation-publisher.js';
import { contentOfChat } from '../../domain/generations/generation-content.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { unpaidTowardLimit } from '../../domain/spend/charge.js';
import type { SpendRelease } from '../../domain/spend/spend-limit.js';
import { UnpaidCosts } from '../../spend/unpaid-costs.js';
import type { Settlement } from './chat-settlement.js';
import { RecordCommits } from './record-commits.js';
import type { CallRecord, StartedCommit } from './record-commits.js';

@Injectable()
export class ChatRecords {
  constructor(
    private readonly commits: RecordCommits,
    private readonly publisher: GenerationPublisher,
    private readonly unpaid: UnpaidCosts,
  ) {}

  /** `late`: the settlement of a call whose caller reads that it could not be recorded. */
  begin(
    settlement: Settlement,
    request: ChatRequest,
    releases: readonly SpendRelease[],
    late: () => Promise<Settlement>,
  ): StartedCommit {
    const recordOf = (of: Settlement) => this.recordOf(of, request, releases);
    return this.commits.begin(recordOf(settlement), async () => recordOf(await late()));
  }

  private recordOf(
    { settled, generation }: Settlement,
    request: ChatRequest,
    releases: readonly SpendRelease[],
  ): CallRecord {
    const { accountId, workspaceId, id } = generation;
    const { charged, received, error } = settled;
    const { unpaid } = charged.charge;
    return {
      generation,
      releases,
      unpaid: unpaidTowardLimit(unpaid),
      content: () =>
        this.publisher.contentToStore(workspaceId, () =>
          contentOfChat(request, received.choices, error?.message ?? null),
        ),
      onCommitted: () => {
        this.publisher.generationAppended(workspaceId);
        if (unpaid.length > 0) this.unpaid.record(accountId, id, unpaid);
      },
    };
  }
}
