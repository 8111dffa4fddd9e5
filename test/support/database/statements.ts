// Records the service's statements to the database.
import pg from 'pg';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
  /** Whether it is prepared under a name, and may so be planned for any values. */
  readonly isPrepared: boolean;
  times: number;
}

interface Recording {
  /** Those that the service has sent, each text once, with its first values that are not empty. */
  readonly statements: ReadonlyMap<string, Statement>;
  stop(): void;
}

type Query = (...given: unknown[]) => unknown;
const NAME_OF_THE_SERVICE = 'signalbox';

/** Records what every connection of the service in this process sends from now on. */
export function recordStatements(): Recording {
  const statements = new Map<string, Statement>();
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function recorded(
    this: { connectionParameters: { application_name?: string } },
    ...given: unknown[]
  ): unknown {
    if (this.connectionParameters.application_name === NAME_OF_THE_SERVICE) {
      const [first, second] = given;
      const config = (typeof first === 'string' ? { text: first } : first) as pg.QueryConfig;
      const values = config.values ?? (Array.isArray(second) ? (second as unknown[]) : []);
      const known = statements.get(config.text);
      if (known) known.times++;
      else {
        const isPrepared = config.name !== undefined;
        statements.set(config.text, { text: config.text, values, isPrepared, times: 1 });
      }
    }
    return query.apply(this, given);
  };
  return {
    statements,
    stop: () => {
      prototype.query = query;
    },
  };
}
