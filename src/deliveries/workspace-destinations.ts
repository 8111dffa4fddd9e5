// Caches the destinations of workspaces. Every change evicts them on every replica as it commits.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { UnusableConfig, parseConfig } from '../destination-kinds/shared/destination-kind.js';
import type { BaseDestinationConfig, DestinationKind } from '../destination-kinds/shared/destination-kind.js';
import { requireDestinationKind } from '../destination-kinds/index.js';
import type { Destination } from '../domain/destinations/destination.js';
import { compileSelection, needsContent } from '../domain/destinations/destination-selection.js';
import type { Selection } from '../domain/destinations/destination-selection.js';
import { UnusableFilter, contentFieldOf } from '../domain/destinations/filter-match.js';
import { DestinationsRepository } from '../persistence/destinations/destinations.repository.js';
import { NotifiedCache } from '../persistence/database/notified-cache.js';
import { Notifications } from '../persistence/database/notifications.js';

/** The notification channel for changes. The payload is the workspace's id. */
export const DESTINATIONS_CHANNEL = 'broadcast_terms_changed';

/** A destination with its parsed config and selection. */
export interface DeliveryTarget {
  readonly destination: Destination;
  readonly kind: DestinationKind;
  readonly config: BaseDestinationConfig;
  readonly selection: Selection;
  /** The selection without the filter. */
  readonly wanted: Selection;
  /** Whether the filter reads contents. */
  readonly filtersByContent: boolean;
  /** Whether the workspace has other destinations. */
  readonly sharesLog: boolean;
  /** Whether other destinations of the workspace receive contents as well. */
  readonly sharesContents: boolean;
}

/** Names this version of the destination. Knowledge of an earlier version does not count. */
export function versionKeyOf({ destination: { id, version } }: DeliveryTarget): string {
  return `${id}:${version}`;
}

export interface WorkspaceDestinations {
  /** By destination id; only destinations that can be delivered to. */
  readonly targets: ReadonlyMap<string, DeliveryTarget>;
  /** By destination id: why an enabled destination cannot be delivered to, for an operator, without secrets. */
  readonly problems: ReadonlyMap<string, string>;
  /** Whether a destination, or the history, needs the contents of calls. */
  readonly needsContent: boolean;
  /** Whether one is in privacy mode, enabled or not. */
  readonly isPrivate: boolean;
}

@Injectable()
export class WorkspaceDestinationsCache extends NotifiedCache<WorkspaceDestinations> {
  constructor(repository: DestinationsRepository, notifications: Notifications, { history }: AppConfig) {
    const isInHistory = history?.hasContents === true;
    super(notifications, { channel: DESTINATIONS_CHANNEL, max: 20_000 }, async (workspaceId) => {
      const [destinations, isPrivate] = await Promise.all([
        repository.listForDelivery(workspaceId),
        repository.hasPrivate(workspaceId),
      ]);
      return toWorkspaceDestinations(destinations, isPrivate, isInHistory && !isPrivate);
    });
  }
}

function toWorkspaceDestinations(
  destinations: readonly Destination[],
  isPrivate: boolean,
  isInHistory: boolean,
): WorkspaceDestinations {
  const readers = destinations.filter(needsContent).length;
  const shared = { sharesLog: destinations.length > 1, sharesContents: readers > 1 };
  const targets = new Map<string, DeliveryTarget>();
  const problems = new Map<string, string>();
  for (const destination of destinations) {
    try {
      targets.set(destination.id, toTarget(destination, shared));
    } catch (error) {
      problems.set(destination.id, problemOf(error));
      new Logger('Broadcast').error(
        { destinationId: destination.id, error },
        'failed to read a stored destination; it gets no deliveries',
      );
    }
  }
  return { targets, problems, needsContent: readers > 0 || isInHistory, isPrivate };
}

/** Throws for a row that this version cannot read. */
function toTarget(
  destination: Destination,
  { sharesLog, sharesContents }: Pick<DeliveryTarget, 'sharesLog' | 'sharesContents'>,
): DeliveryTarget {
  const kind = requireDestinationKind(destination.kind);
  const config = parseConfig(kind, destination.config);
  const selection = compileSelection(destination);
  const wanted = compileSelection({ ...destination, filterRules: null });
  const filtersByContent = contentFieldOf(destination.filterRules) !== null;
  return { destination, kind, config, selection, wanted, filtersByContent, sharesLog, sharesContents };
}

/** These two errors name fields, never their values. */
function problemOf(error: unknown): string {
  return error instanceof UnusableFilter || error instanceof UnusableConfig
    ? error.message
    : 'this version of the service cannot read the stored destination';
}
