// This process as the rows of its spend leases name it.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { LAST_COMMIT_MS, LEASE_SECONDS } from '../../domain/spend/spend-lease.js';
import { Notifications } from '../database/notifications.js';

@Injectable()
export class LeaseProcess {
  /** The lock that shows that the process lives. */
  readonly session: number;
  /**
   * Its place among the replicas. A process that is cut off from the database has lost its lock, and its calls still spend:
   * only a successor in its place proves that it is dead. Null: nothing proves it.
   */
  readonly place: string | null;
  /**
   * Seconds after a statement for which calls may hold parts of a lease. They are granted within LEASE_SECONDS of it, and the
   * statement may leave an earlier time that is less than LEASE_SECONDS old.
   */
  readonly heldSeconds: number;

  constructor({ lock }: Notifications, { place, chat, operationDeadline }: AppConfig) {
    this.session = lock;
    this.place = place;
    const longest = Math.max(chat.deadline, operationDeadline) + LAST_COMMIT_MS;
    this.heldSeconds = Math.ceil(longest / 1_000) + 2 * LEASE_SECONDS;
  }
}
