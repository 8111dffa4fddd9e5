// Snowflake: one row per generation, through the SQL API.
import { TextField } from './config-fields.js';
import { BaseDestinationConfig } from './destination-kind.js';
import type { DestinationKind } from './destination-kind.js';

const ACCOUNT = /^[A-Za-z0-9_]+([.-][A-Za-z0-9_]+)*$/;

export class SnowflakeConfig extends BaseDestinationConfig {
  @TextField({
    description: 'Account identifier.',
    maxLength: 255,
    pattern: ACCOUNT,
    patternMessage: 'must be letters, digits and underscores, joined by single dots or hyphens',
  })
  account: string;

  @TextField({ description: 'Programmatic access token.', secret: 'masked' })
  token: string;

  @TextField({
    description: 'Database that holds the table.',
    allowEmpty: true,
    default: 'SNOWFLAKE_LEARNING_DB',
  })
  database = 'SNOWFLAKE_LEARNING_DB';

  @TextField({ description: 'Schema that holds the table.', allowEmpty: true, default: 'PUBLIC' })
  schema = 'PUBLIC';

  @TextField({
    description: 'Table that rows are merged into.',
    allowEmpty: true,
    default: 'OPENROUTER_TRACES',
  })
  table = 'OPENROUTER_TRACES';

  @TextField({ description: 'Warehouse that runs the statements.', allowEmpty: true, default: 'COMPUTE_WH' })
  warehouse = 'COMPUTE_WH';
}

export const snowflake: DestinationKind = {
  type: 'snowflake',
  neutralType: 'kind_14',
  platform: 'Snowflake',
  configClass: SnowflakeConfig,
  example: { account: 'myorg-account1', token: 'ver:1-hint:0123456789-ETMs' },
};
