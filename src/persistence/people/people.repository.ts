// People and their roles.
import { Injectable } from '@nestjs/common';
import type { Person } from '../../domain/people/person.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import { FIND_PEOPLE, toPerson } from './person-statements.js';
import type { PersonRow } from './person-statements.js';

@Injectable()
export class PeopleRepository {
  private readonly people = new BatchReader<string, Person>({
    idOf: (id) => id,
    read: (ids) => this.read(ids),
  });

  constructor(private readonly database: Database) {}

  /** By an id that a session names: of whatever account. */
  async find(id: string): Promise<Person | null> {
    return this.people.find(id);
  }

  private async read(ids: readonly string[]): Promise<ReadonlyMap<string, Person>> {
    const rows = await this.database.query<PersonRow & Record<string, unknown>>({
      name: 'find-people',
      text: FIND_PEOPLE,
      values: [ids],
    });
    return new Map(rows.map((row) => [row.id, toPerson(row)]));
  }
}
