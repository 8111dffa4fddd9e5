// Whether a provider's work ends with its client, by how the provider bills it (docs/contract.md#chat-disconnects).
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { ChatConfig } from '../../config/chat-config.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { DisconnectDecision } from '../stream/chat-pump.js';
import type { OpenChats } from './open-chats.js';

export interface DisconnectOptions {
  readonly openChats: Pick<OpenChats, 'tryDrain'>;
  readonly config: Pick<ChatConfig, 'onDisconnect' | 'drainTime'>;
  readonly request: ChatRequest;
  /** performance.now() */
  readonly deadline: number;
  readonly accountId: string;
}

/** Decides for one call whether its stream is drained or cancelled. */
export class DisconnectPolicy {
  private endDrain: (() => void) | null = null;

  constructor(private readonly options: DisconnectOptions) {}

  /** Without a free drain the call is cancelled, and counted as far as it came. */
  decide(target: ChatTarget): DisconnectDecision {
    const { request, config, openChats, deadline, accountId } = this.options;
    const { isStreamed } = request;
    const mayStop = this.mayStop(target);
    if (mayStop && !(isStreamed && (config.onDisconnect === 'drain' || hidesReasoning(target, request))))
      return 'cancel';
    this.endDrain ??= openChats.tryDrain(accountId);
    if (this.endDrain === null) return 'cancel';
    const remaining = Math.max(1, deadline - performance.now());
    const isShort = mayStop && config.onDisconnect === 'auto';
    return { drainMs: isShort ? Math.min(config.drainTime, remaining) : remaining };
  }

  /**
   * The text that has come does not show all tokens: reasoning is hidden, or a provider that bills on was cut while it was
   * drained. `isOver`: it has ended by itself.
   */
  hidesTokens(target: ChatTarget, isOver: boolean): boolean {
    return hidesReasoning(target, this.options.request) || (this.endDrain !== null && !isOver);
  }

  close(): void {
    this.endDrain?.();
  }

  private mayStop({ endpoint, wire }: ChatTarget): boolean {
    const billing = endpoint.cancellation ?? wire.cancellation;
    return billing === 'stops_always' || (billing === 'stops' && this.options.request.isStreamed);
  }
}

/** Tokens of local servers cost nothing. */
function hidesReasoning({ endpoint, wire }: ChatTarget, request: ChatRequest): boolean {
  const billing = endpoint.cancellation ?? wire.cancellation;
  const ofRequest = 'protocol' in wire ? wire.hidesReasoning?.(request, endpoint) : undefined;
  return (ofRequest ?? endpoint.hidesReasoning) && billing !== 'stops_always';
}
