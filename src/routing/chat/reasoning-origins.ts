// The endpoint and credential that made the signed thoughts of a conversation. Some providers read a thought only in the account
// that made it, and refuse others (docs/contract.md#messages-providers). Replicas that did not serve the conversation know none.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { nameOfVersion } from '../../domain/preset.js';
import { signaturesIn } from '../../providers/shared/messages/reasoning-details.js';
import { FairCache } from '../fair-cache/fair-cache.js';
import { endpointName } from '../endpoint-target.js';
import type { ServingTarget } from '../endpoint-target.js';

const MAX_SIGNATURES = 40_000;
// Of a signature: its hash, and the name of its maker.
const BYTES = 256;
// Milliseconds.
const LIFETIME = 86_400_000;

/** Stands for the maker of thoughts that no endpoint reads any more. No maker has this name. */
const NO_MAKER = '';

interface Thought {
  /** The name of its maker. */
  readonly name: string;
  /** The version of the preset whose prompt and tools came before it; null: none. */
  readonly preset: string | null;
}

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
  private readonly makers = new FairCache<Thought>({
    maxBytes: MAX_SIGNATURES * BYTES,
    timeToLive: LIFETIME,
    now: () => performance.now(),
    sizeOf: () => BYTES,
  });

  /** `preset`: presetOf() the request that they answer. */
  remember(
    accountId: string,
    signatures: readonly string[],
    target: ServingTarget,
    preset: string | null,
  ): void {
    const name = makerName(target);
    for (const signature of signatures)
      this.makers.set({ accountId, workspaceId: '' }, hashOf(signature), { name, preset });
  }

  /**
   * Null: the history has no signed thought. Another version of a preset is an edit of the history, after which providers
   * refuse thoughts.
   */
  of(accountId: string, request: Pick<ChatRequest, 'messages' | 'preset'>): BoundReasoning | null {
    const preset = presetOf(request);
    const makers = new Map<string, string>();
    const formats = new Set<string>();
    for (const { format, signature } of signaturesIn(request.messages)) {
      formats.add(format);
      const maker = this.makers.get({ accountId, workspaceId: '' }, hashOf(signature));
      if (maker) makers.set(signature, maker.preset === preset ? maker.name : NO_MAKER);
    }
    const [origin = null] = makers.values();
    return formats.size > 0 ? { origin, makers, formats } : null;
  }
}

/** The name of its version; null: none. */
export function presetOf({ preset }: Pick<ChatRequest, 'preset'>): string | null {
  return preset === undefined ? null : nameOfVersion(preset);
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
