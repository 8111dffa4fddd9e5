// Stops the start when ENCRYPTION_KEYS lacks a key of stored secrets, instead of failing call by call later.
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { ConfigError } from '../../config/environment-reader.js';
import { Database } from '../database/database.js';

const USED_KEYS = `
SELECT config_encryption_key_id AS id FROM destinations WHERE deleted_at IS NULL
UNION SELECT config_encryption_key_id FROM notification_rules
UNION SELECT encryption_key_id FROM provider_credentials WHERE deleted_at IS NULL`;

@Injectable()
export class EncryptionKeyCheck implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly config: AppConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const used = await this.database.query<{ id: string }>({ text: USED_KEYS });
    const known = new Set(this.config.encryptionKeys.map((key) => key.id));
    const missing = used.map(({ id }) => id).filter((id) => !known.has(id));
    if (missing.length > 0) {
      throw new ConfigError(
        `ENCRYPTION_KEYS lacks ${missing.join(', ')}, which encrypted stored configurations; add the key with this id`,
      );
    }
  }
}
