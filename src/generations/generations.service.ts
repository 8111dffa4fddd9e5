// What is promised of the record of a call.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../domain/api-key.js';
import { AppError } from '../domain/errors.js';
import type { Generation } from '../domain/generation.js';
import { GenerationsRepository } from '../persistence/generations.repository.js';
import { readGenerationId } from './generation-id.js';

@Injectable()
export class GenerationsService {
  constructor(private readonly generations: GenerationsRepository) {}

  /** Of any workspace of the caller's account; another account's answers like one that does not exist. */
  async get(caller: Caller, id: unknown): Promise<Generation> {
    const key = readGenerationId(id);
    const found = key && (await this.generations.find(caller.key.accountId, key));
    if (!found) throw new AppError('not_found', { detail: 'no generation has this id' });
    return found;
  }
}
