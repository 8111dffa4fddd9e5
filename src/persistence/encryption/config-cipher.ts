// Encrypts the secrets in the database: destination configs, provider credentials, contents.
// AES-256-GCM; the key's id is stored beside the ciphertext, so that keys can be rotated without a pause.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { ConfigError } from '../../config/environment-reader.js';
import type { EncryptionKey } from '../../config/environment-reader.js';
import { Database } from '../database/database.js';

export interface Encrypted {
  /** 12 bytes of nonce, 16 of tag, then the ciphertext. */
  readonly ciphertext: Uint8Array<ArrayBuffer>;
  readonly encryptionKeyId: string;
}

/** The key is not configured in this process. */
export class MissingEncryptionKey extends Error {
  constructor(id: string) {
    super(`ENCRYPTION_KEYS lacks the key ${id}`);
  }
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

@Injectable()
export class ConfigCipher {
  constructor(@Inject(AppConfig) private readonly config: Pick<AppConfig, 'encryptionKeys'>) {}

  /** The id of the key that encrypts. */
  get currentKeyId(): string {
    return this.currentKey.id;
  }

  /** The ids of all keys that can decrypt. */
  get keyIds(): readonly string[] {
    return this.config.encryptionKeys.map(({ id }) => id);
  }

  /**
   * Encrypts a JSON value with the first key. `owner` (the id of the row) is bound to the ciphertext, so that one row's
   * secrets cannot be made readable by copying them into another row.
   */
  encrypt(value: unknown, owner: string): Encrypted {
    return this.encryptJson(JSON.stringify(value), owner);
  }

  /** Like encrypt(), for a value that is already JSON. */
  encryptJson(json: string, owner: string): Encrypted {
    const { id: encryptionKeyId, bytes } = this.currentKey;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, bytes, nonce).setAAD(Buffer.from(owner));
    const body = cipher.update(json, 'utf8');
    // Computes the tag. GCM leaves no bytes to write.
    cipher.final();
    const ciphertext = new Uint8Array(NONCE_BYTES + TAG_BYTES + body.length);
    ciphertext.set(nonce);
    ciphertext.set(cipher.getAuthTag(), NONCE_BYTES);
    ciphertext.set(body, NONCE_BYTES + TAG_BYTES);
    return { ciphertext, encryptionKeyId };
  }

  /** Throws when the key is not configured, or the ciphertext was changed or belongs to another row. */
  decrypt(
    encrypted: Pick<Encrypted, 'encryptionKeyId'> & { readonly ciphertext: Uint8Array },
    owner: string,
  ): unknown {
    const key = this.config.encryptionKeys.find((candidate) => candidate.id === encrypted.encryptionKeyId);
    if (!key) throw new MissingEncryptionKey(encrypted.encryptionKeyId);
    const bytes = Buffer.from(encrypted.ciphertext);
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8'));
  }

  private get currentKey(): EncryptionKey {
    const [key] = this.config.encryptionKeys;
    if (!key) throw new Error('no encryption key');
    return key;
  }
}

const USED_KEYS = `
SELECT config_encryption_key_id AS id FROM destinations WHERE deleted_at IS NULL
UNION SELECT config_encryption_key_id FROM notification_rules
UNION SELECT encryption_key_id FROM provider_credentials WHERE deleted_at IS NULL`;

/** Stops the start when ENCRYPTION_KEYS lacks a key of stored secrets, instead of failing call by call later. */
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
