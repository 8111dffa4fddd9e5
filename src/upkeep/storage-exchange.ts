// Exchanges the stored bytes of workspaces among processes, so that quotas take effect within seconds.
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { StorageUsage } from '../persistence/contents/storage-usage.js';

// Milliseconds.
const EXCHANGE_INTERVAL = 5_000;

@Injectable()
export class StorageExchange implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly task = RepeatedTask.every(
    EXCHANGE_INTERVAL,
    () => this.storage.exchange(),
    // The sums are kept for the next exchange.
    () => undefined,
  );

  constructor(private readonly storage: StorageUsage) {}

  onApplicationBootstrap(): void {
    if (!this.storage.isOff) this.task.start(EXCHANGE_INTERVAL);
  }

  onModuleDestroy(): void {
    void this.task.stop();
  }
}
