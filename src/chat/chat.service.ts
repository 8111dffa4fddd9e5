// Model calls in any wire: a call that reaches its providers leaves one committed generation before its usage leaves.
import { Injectable, Logger } from '@nestjs/common';
import { AppError, toAppError } from '../domain/errors.js';
import { StorageUsage } from '../persistence/contents/storage-usage.js';
import { wireOf } from '../domain/chat/chat-request.js';
import type { ChatCall, WrittenChat } from './chat-call.js';
import { ChatServices } from './run/chat-services.js';
import { ChatRun } from './run/chat-run.js';
import type { SettledChat } from './run/chat-settlement.js';
import type { ExecutedChat } from './run/executed-chat.js';
import type { ClientStream } from './stream/client-stream.js';
import type { FailedStream, ShownUsage, StreamIdentity } from './clients/client-wire.js';
import { clientWireOf } from './clients/client-wires.js';
import type { ShownCost } from './dto/chat-usage.dto.js';
import type { AnswerEnd } from './passages/passage.js';

@Injectable()
export class ChatService {
  private readonly logger = new Logger('Chat');

  constructor(
    private readonly storage: StorageUsage,
    private readonly services: ChatServices,
  ) {}

  /**
   * Returns the answer of a call without a stream. Null: the stream was written to its end, or the client has left. Throws
   * the failure of a call before its headers, with the id of its generation.
   */
  async create(call: ChatCall): Promise<WrittenChat | null> {
    this.storage.rejectAboveLogQuota(call.caller.key.workspaceId);
    const run = new ChatRun(call, this.services);
    try {
      const route = await run.plan();
      const reserved = await run.reserve(route);
      const executed = reserved === null ? run.abandon(route) : await run.execute(reserved);
      return await this.answer(call, run, executed);
    } catch (failure) {
      if (call.client.gone !== null) return null;
      run.client?.release();
      throw run.toCallerError(failure);
    } finally {
      run.close();
    }
  }

  private async answer(call: ChatCall, run: ChatRun, executed: ExecutedChat): Promise<WrittenChat | null> {
    const { client } = run;
    let settled: SettledChat;
    try {
      settled = await run.settle(executed);
    } catch (failure) {
      if (!client?.hasSentHeaders) throw failure;
      const error = toAppError(failure);
      this.logger.warn({ generationId: run.generationId, status: error.status }, error.logMessage);
      return endStream(client, failureEvent(call, run, executed, error));
    }
    const { error } = settled;
    if (error !== null) {
      if (!client?.hasSentHeaders) throw error;
      this.logger.warn({ generationId: run.generationId, status: error.status }, error.logMessage);
      return endStream(client, failureEvent(call, run, settled, error, usageOfFailure(settled)));
    }
    const { begun: served, passedOver } = settled.routed;
    if (!served) return null;
    const { answer: begun, target } = served;
    const { includesUsageChunk, choiceCount } = call.request;
    const completedAt = Math.floor(this.services.clock.now().getTime() / 1_000);
    const end: AnswerEnd = {
      usage: settled.usage.usage,
      cost: shownCost(settled),
      members: run.routingMembers(),
      completedAt,
      hasChoice: !includesUsageChunk && choiceCount === 1,
    };
    if (begun.kind === 'whole') {
      if (run.generationId === null) return null;
      const body = begun.answer.body(end);
      return { generationId: run.generationId, body, passedOver, deprecation: target.model };
    }
    if (begun.kind === 'ended' || client === null || client.gone !== null) return null;
    return endStream(client, begun.relay.last(end));
  }
}

function failureEvent(
  { request }: ChatCall,
  run: ChatRun,
  executed: ExecutedChat,
  error: AppError,
  usage: ShownUsage | null = null,
): Buffer {
  const { generationId } = run;
  const failed: FailedStream = {
    identity: identityOf(run, executed),
    responses: request.native?.responses,
    error: error.ofCall({ generationId }),
    usage,
    members: run.routingMembers(),
  };
  const begun = executed.routed.begun?.answer;
  const ofAnswer = begun?.kind === 'stream' ? begun.relay.failed(failed) : null;
  return ofAnswer ?? clientWireOf(wireOf(request)).failure(failed);
}

/** With its last events. */
async function endStream(client: ClientStream, event: Buffer): Promise<null> {
  client.write(event);
  await client.end();
  return null;
}

function identityOf(run: ChatRun, { routed, route }: ExecutedChat): StreamIdentity {
  const begun = routed.begun?.answer;
  if (begun?.kind === 'stream') return begun.relay.identity;
  const [target] = route.targets;
  if (!target) throw new AppError('internal');
  return run.identityOf(target);
}

function shownCost({ charged: { charge, cost } }: SettledChat): ShownCost {
  return {
    charged: charge.cost,
    isByok: charge.isByok,
    upstream: charge.upstreamCost,
    prompt: cost && cost.prompt,
    completion: cost && cost.completion,
  };
}

/** A call that its caller pays, and a report of a provider, show usage. */
function usageOfFailure(settled: SettledChat): ShownUsage | null {
  const { usage, charged } = settled;
  const isShown = usage.source === 'reported' || charged.source !== 'none';
  return isShown ? { usage: usage.usage, cost: shownCost(settled) } : null;
}
