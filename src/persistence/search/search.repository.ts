// Finds what an account knows by a text: calls by their ids, sessions and users by their names, keys by a part of theirs.
import { Injectable } from '@nestjs/common';
import { workspacesOfReach } from '../../domain/generations/call-reach.js';
import type { CallReach } from '../../domain/generations/call-reach.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { Reports } from '../database/reports.js';
import { OF_ACCOUNT, OF_REACH } from './search-statements.js';

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
  async find(accountId: string, reach: CallReach, text: string): Promise<Found> {
    const { workspaceIds, keys } = reach;
    const isWhole = workspaceIds === null;
    const statements = isWhole ? OF_ACCOUNT : OF_REACH;
    const values = isWhole ? [accountId, text] : [accountId, text, workspaceIds, keys.map((key) => key.id)];
    const ofWorkspaces = isWhole ? values : [...values, workspacesOfReach(reach)];
    return this.reports.readTogether(accountId, async (run) => ({
      ofRequest: await run<FoundCall & Record<string, unknown>>({ text: statements.callsOfRequest, values }),
      ofUpstream: await run<FoundCall & Record<string, unknown>>({
        text: statements.callsOfUpstream,
        values,
      }),
      ofSession: await run<NewestCall & Record<string, unknown>>({
        text: statements.newestOfSession,
        values: ofWorkspaces,
      }),
      ofUser: await run<NewestCall & Record<string, unknown>>({
        text: statements.newestOfUser,
        values: ofWorkspaces,
      }),
      keys: await run<FoundKey & Record<string, unknown>>({ text: statements.keys, values }),
    }));
  }
}
