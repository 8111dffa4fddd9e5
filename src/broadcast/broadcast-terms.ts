// The destinations of workspaces, from memory: every change empties it on every replica as it commits.
import { Injectable, Logger } from '@nestjs/common';
import { parseConfig } from '../destination-kinds/destination-kind.js';
import type { BaseDestinationConfig, DestinationKind } from '../destination-kinds/destination-kind.js';
import { requireDestinationKind } from '../destination-kinds/index.js';
import type { Destination } from '../domain/destination.js';
import { compileSelection, needsContent } from '../domain/destination-selection.js';
import { filterReads } from '../domain/filter-match.js';
import type { GenerationCandidate } from '../domain/generation-candidate.js';
import { DestinationsRepository } from '../persistence/destinations.repository.js';
import { NotifiedCache } from '../persistence/notified-cache.js';
import { Notifications } from '../persistence/notifications.js';

/** The channel on which the database tells of changes. The payload is the workspace's id. */
export const TERMS_CHANNEL = 'broadcast_terms_changed';

/** A destination, ready to be delivered to. */
export interface DeliveryTarget {
  readonly destination: Destination;
  readonly kind: DestinationKind;
  readonly config: BaseDestinationConfig;
  readonly isSelected: (candidate: GenerationCandidate) => boolean;
  /** The same without the filter. */
  readonly isWanted: (candidate: GenerationCandidate) => boolean;
  /** Whether the selection itself looks at contents. */
  readonly filtersByInput: boolean;
  /** Whether the workspace has other destinations. */
  readonly sharesLog: boolean;
  /** Whether others of them are told contents as well. */
  readonly sharesContents: boolean;
}

export interface BroadcastTerms {
  /** By the destination's id; only those that are to be delivered to. */
  readonly targets: ReadonlyMap<string, DeliveryTarget>;
  /** Whether one of them needs the inputs of calls. */
  readonly needsContent: boolean;
}

@Injectable()
export class BroadcastTermsCache extends NotifiedCache<BroadcastTerms> {
  constructor(repository: DestinationsRepository, notifications: Notifications) {
    super(notifications, { channel: TERMS_CHANNEL, max: 20_000 }, async (workspaceId) =>
      toTerms(await repository.listForBroadcast(workspaceId)),
    );
  }
}

function toTerms(destinations: readonly Destination[]): BroadcastTerms {
  const readers = destinations.filter(needsContent).length;
  const shared = { sharesLog: destinations.length > 1, sharesContents: readers > 1 };
  return {
    targets: new Map(destinations.flatMap((destination) => [...toTarget(destination, shared)])),
    needsContent: readers > 0,
  };
}

/** None for a row that this version cannot read: the others are delivered to all the same. */
function* toTarget(
  destination: Destination,
  { sharesLog, sharesContents }: Pick<DeliveryTarget, 'sharesLog' | 'sharesContents'>,
): Iterable<[string, DeliveryTarget]> {
  try {
    const kind = requireDestinationKind(destination.kind);
    const config = parseConfig(kind, destination.config);
    const isSelected = compileSelection(destination);
    const isWanted = compileSelection({ ...destination, filterRules: null });
    const filtersByInput = filterReads(destination.filterRules, 'input');
    yield [
      destination.id,
      { destination, kind, config, isSelected, isWanted, filtersByInput, sharesLog, sharesContents },
    ];
  } catch (error) {
    new Logger('Broadcast').error(
      { destinationId: destination.id, error },
      'a stored destination cannot be used',
    );
  }
}
