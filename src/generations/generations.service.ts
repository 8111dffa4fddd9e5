import { Injectable } from '@nestjs/common';
import type { Manager } from '../domain/people/manager.js';
import { AppError } from '../domain/errors.js';
import { withinContents } from '../domain/generations/call-reach.js';
import type { Generation } from '../domain/generations/generation.js';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import { readGenerationId } from '../domain/identifiers.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
import { GenerationReader } from '../persistence/generations/generation-reader.js';
import { GenerationsRepository } from '../persistence/generations/generations.repository.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import { History } from '../persistence/history/history.js';

const NOT_STORED = 'the content of this generation is not stored';

export interface GenerationWithKey {
  readonly generation: Generation;
  /** Null: the key is purged. */
  readonly keyHash: string | null;
}

interface GenerationWithContent {
  readonly generation: Generation;
  readonly content: GenerationContent;
}

// The form of a message's id, which the provider gives.
const UPSTREAM_ID = /^(?:msg|resp)_[\x21-\x7e]{1,200}$/;

@Injectable()
export class GenerationsService {
  constructor(
    private readonly reaches: CallReaches,
    private readonly generations: GenerationsRepository,
    private readonly reader: GenerationReader,
    private readonly history: History,
    private readonly keys: LoggedKeys,
  ) {}

  /**
   * A management key reads every call of its account, an inference key only its own, a person those within the reach
   * of the role. Any other call answers 404 exactly like an unknown id.
   */
  async get(manager: Manager, id: unknown): Promise<Generation> {
    if (typeof id !== 'string' || id === '') {
      throw new AppError('invalid_request', {
        detail: 'id: must be the id of one generation: gen- or embd- and 32 hexadecimal digits, or a UUID',
      });
    }
    const key = readGenerationId(id) ?? (await this.findKey(manager, id));
    const found = key && (await this.generations.find(manager, key));
    if (!found) throw new AppError('not_found', { detail: 'no generation has this id' });
    return found;
  }

  async getWithKey(manager: Manager, id: unknown): Promise<GenerationWithKey> {
    const found = await this.get(manager, id);
    const contents = await this.reaches.ofContents(manager);
    const generation = withinContents(contents, found);
    const { accountId, apiKeyId } = generation;
    const hashes = await this.keys.findHashes(accountId, [apiKeyId]);
    return { generation, keyHash: hashes.get(apiKeyId) ?? null };
  }

  /** Like get(); also 404 when the content is not stored. */
  async getContent(manager: Manager, id: unknown): Promise<GenerationWithContent> {
    const generation = await this.get(manager, id);
    const { workspaceId } = generation;
    const logged = await this.reader.readNamed(workspaceId, [generation]);
    const contents = await this.reader.readContents(workspaceId, logged);
    // A row of the log states whether a content was ever stored.
    const wasStored = logged[0]?.contentBytes !== 0;
    const content =
      contents.get(generation.id) ?? (wasStored ? await this.history.findContent(generation) : null);
    if (!content) throw new AppError('not_found', { detail: `${NOT_STORED}: ${this.storageRule()}` });
    return { generation, content };
  }

  /** Answers in the Messages wire carry the provider's id. */
  private findKey(manager: Manager, id: string): Promise<Pick<Generation, 'id' | 'createdAt'> | null> {
    return UPSTREAM_ID.test(id) ? this.generations.findKey(manager, id) : Promise.resolve(null);
  }

  private storageRule(): string {
    return this.history.hasContents
      ? 'neither the log nor the history has it'
      : 'it is kept only until all destinations that need it have it, and for a day at most';
  }
}
