// ClickHouse: one row per generation, through the HTTP interface.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

export class ClickhouseConfig extends BaseDestinationConfig {
  @TextField({ description: 'HTTP endpoint with scheme and port.' })
  host: string;

  @TextField({ description: 'Database that holds the table.' })
  database: string;

  @TextField({ description: 'User name; `default` when none was set.' })
  username: string;

  @TextField({ description: 'Password of the user.', secret: 'password' })
  password: string;

  @TextField({
    description: 'Table that rows are inserted into.',
    allowEmpty: true,
    default: 'OPENROUTER_TRACES',
  })
  table = 'OPENROUTER_TRACES';
}

export const clickhouse: DestinationKind = {
  type: 'clickhouse',
  neutralType: 'kind_03',
  platform: 'ClickHouse',
  configClass: ClickhouseConfig,
  example: {
    host: 'https://abc.clickhouse.cloud:8443',
    database: 'default',
    username: 'default',
    password: 'correct-horse-battery',
  },
};
