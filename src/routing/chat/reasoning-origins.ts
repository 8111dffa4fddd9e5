// The endpoint and credential that made the signed thoughts of a conversation. Some providers read a thought only in the account
// that made it, and refuse others (docs/contract.md#messages-providers). Replicas that did not serve the conversation know none.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ChatMessage } from '../../domain/chat/chat-request.js';
import { signaturesIn } from '../../providers/shared/messages/reasoning-details.js';
import { FairCache } from '../fair-cache/fair-cache.js';
import { endpointName } from '../endpoint-target.js';
import type { ServingTarget } from '../endpoint-target.js';

const MAX_SIGNATURES = 40_000;
// Of a signature: its hash, and the name of its maker.
const BYTES = 256;
// Milliseconds.
const LIFETIME = 86_400_000;

/** The signed thoughts in the history of a request. */
export interface BoundReasoning {
  /** The maker of the oldest thought that is known; null: none is. */
  readonly origin: string | null;
  /** By signature; thoughts of unknown makers are not in it. */
  readonly makers: ReadonlyMap<string, string>;
  /** The forms of the thoughts: each has one producer. */
  readonly formats: ReadonlySet<string>;
}

@Injectable()
export class ReasoningOrigins {
  /** Accounts share it, so that none pushes the thoughts of others out. */
  private readonly makers = new FairCache<{ readonly name: string }>({
    maxBytes: MAX_SIGNATURES * BYTES,
    timeToLive: LIFETIME,
    now: () => performance.now(),
    sizeOf: () => BYTES,
  });

  remember(accountId: string, signatures: readonly string[], target: ServingTarget): void {
    const name = makerName(target);
    for (const signature of signatures)
      this.makers.set({ accountId, workspaceId: '' }, hashOf(signature), { name });
  }

  /** Null: the history has no signed thought. */
  of(accountId: string, messages: readonly ChatMessage[]): BoundReasoning | null {
    const makers = new Map<string, string>();
    const formats = new Set<string>();
    for (const { format, signature } of signaturesIn(messages)) {
      formats.add(format);
      const maker = this.makers.get({ accountId, workspaceId: '' }, hashOf(signature));
      if (maker) makers.set(signature, maker.name);
    }
    const [origin = null] = makers.values();
    return formats.size > 0 ? { origin, makers, formats } : null;
  }
}

export function madeBy(maker: string | null, target: ServingTarget): boolean {
  return maker === makerName(target);
}

export function makerName(target: ServingTarget): string {
  return `${target.credential?.id ?? ''} ${endpointName(target)}`;
}

function hashOf(signature: string): string {
  return createHash('sha256').update(signature).digest('base64url');
}
