// Whether a provider's work ends with its client, by how the provider bills it (docs/contract.md#chat-disconnects).
import type { ChatConfig } from '../../config/chat-config.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { DisconnectDecision } from '../stream/chat-pump.js';
import type { EndingKind } from './chat-ending.js';
import type { OpenChats } from './open-chats.js';

export interface DisconnectOptions {
  readonly openChats: Pick<OpenChats, 'tryDrain'>;
  readonly config: Pick<ChatConfig, 'onDisconnect' | 'drainTime'>;
  readonly isStreamed: boolean;
  /** performance.now() */
  readonly deadline: number;
}

/** Decides for one call whether its stream is drained or cancelled. */
export class DisconnectPolicy {
  private endDrain: (() => void) | null = null;
  /** There was no room for a drain. */
  private isOverDrained = false;

  constructor(private readonly options: DisconnectOptions) {}

  decide(target: ChatTarget): DisconnectDecision {
    const { isStreamed, config, openChats, deadline } = this.options;
    const mayStop = this.mayStop(target);
    if (mayStop && !(isStreamed && (config.onDisconnect === 'drain' || hidesTokens(target)))) return 'cancel';
    this.endDrain ??= openChats.tryDrain();
    if (this.endDrain === null) {
      this.isOverDrained = true;
      return 'cancel';
    }
    const remaining = Math.max(1, deadline - performance.now());
    const isShort = mayStop && config.onDisconnect === 'auto';
    return { drainMs: isShort ? Math.min(config.drainTime, remaining) : remaining };
  }

  /** The text that has come shows all tokens, unless reasoning is hidden or the provider bills on. */
  cutKind(target: ChatTarget): EndingKind {
    return hidesTokens(target) || this.isOverDrained || this.endDrain !== null ? 'unknown' : 'cut';
  }

  close(): void {
    this.endDrain?.();
  }

  private mayStop({ endpoint, provider }: ChatTarget): boolean {
    const billing = endpoint.cancellation ?? provider.chat?.cancellation ?? 'unknown';
    return billing === 'stops_always' || (billing === 'stops' && this.options.isStreamed);
  }
}

/** Tokens of local servers cost nothing. */
function hidesTokens({ endpoint, provider }: ChatTarget): boolean {
  const billing = endpoint.cancellation ?? provider.chat?.cancellation;
  return endpoint.hidesReasoning && billing !== 'stops_always';
}
