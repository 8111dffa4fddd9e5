// Finds what an account knows by a text: calls by their ids, sessions and users by their names, keys by a part of theirs.
import { Injectable } from '@nestjs/common';
import type { Generation } from '../../domain/generations/generation.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { Reports } from '../database/reports.js';
import {
  CALLS_OF_REQUEST,
  CALLS_OF_UPSTREAM,
  FIND_KEYS,
  NEWEST_OF_SESSION,
  NEWEST_OF_USER,
} from './search-statements.js';

export type FoundCall = Pick<
  Generation,
  | 'id'
  | 'workspaceId'
  | 'apiKeyId'
  | 'createdAt'
  | 'model'
  | 'status'
  | 'errorType'
  | 'errorMessage'
  | 'requestId'
>;

/** The newest call of a session or user in a workspace. */
export type NewestCall = Pick<Generation, 'id' | 'workspaceId' | 'createdAt'>;

export interface FoundKey extends Pick<ApiKey, 'hash' | 'workspaceId' | 'name' | 'label' | 'createdAt'> {
  readonly matchedBy: 'key_hash' | 'key_name' | 'key_label';
}

export interface Found {
  readonly ofRequest: readonly FoundCall[];
  readonly ofUpstream: readonly FoundCall[];
  readonly ofSession: readonly NewestCall[];
  readonly ofUser: readonly NewestCall[];
  readonly keys: readonly FoundKey[];
}

@Injectable()
export class SearchRepository {
  constructor(private readonly reports: Reports) {}

  /** Newest first, without the history. */
  async find(accountId: string, text: string): Promise<Found> {
    const values = [accountId, text];
    return this.reports.readTogether(accountId, async (run) => ({
      ofRequest: await run<FoundCall & Record<string, unknown>>({ text: CALLS_OF_REQUEST, values }),
      ofUpstream: await run<FoundCall & Record<string, unknown>>({ text: CALLS_OF_UPSTREAM, values }),
      ofSession: await run<NewestCall & Record<string, unknown>>({ text: NEWEST_OF_SESSION, values }),
      ofUser: await run<NewestCall & Record<string, unknown>>({ text: NEWEST_OF_USER, values }),
      keys: await run<FoundKey & Record<string, unknown>>({ text: FIND_KEYS, values }),
    }));
  }
}
