// Customers' own keys at providers, encrypted at rest.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { uuidV7 } from '../domain/identifiers.js';
import { maskSecret } from '../domain/masking.js';
import type { NewProviderCredential, ProviderCredential } from '../domain/provider-credential.js';
import { ConfigCipher } from './config-cipher.js';
import { Database } from './database.js';
import type { ProviderCredentialModel as ProviderCredentialRow } from './generated/models.js';

interface Secret {
  readonly apiKey: string;
}

@Injectable()
export class ProviderCredentialsRepository {
  constructor(
    private readonly database: Database,
    private readonly cipher: ConfigCipher,
    private readonly clock: Clock,
  ) {}

  async create({ apiKey, ...credential }: NewProviderCredential): Promise<ProviderCredential> {
    const now = this.clock.now();
    const id = uuidV7(now);
    const secret: Secret = { apiKey };
    const row = await this.database.prisma.providerCredential.create({
      data: {
        ...credential,
        id,
        label: maskSecret(apiKey),
        ...this.cipher.encrypt(secret, id),
        allowedModels: [...credential.allowedModels],
        allowedApiKeyHashes: [...credential.allowedApiKeyHashes],
        allowedUserIds: [...credential.allowedUserIds],
        createdAt: now,
      },
    });
    return this.toCredential(row);
  }

  /** Those that are not deleted, decrypted, in the order in which they are tried. */
  async listForWorkspace(workspaceId: string): Promise<ProviderCredential[]> {
    const rows = await this.database.prisma.providerCredential.findMany({
      where: { workspaceId, deletedAt: null },
      orderBy: [{ sortOrder: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }],
    });
    return rows.map((row) => this.toCredential(row));
  }

  private toCredential(row: ProviderCredentialRow): ProviderCredential {
    const { ciphertext, encryptionKeyId } = row;
    const { apiKey } = this.cipher.decrypt({ ciphertext, encryptionKeyId }, row.id) as Secret;
    return {
      id: row.id,
      accountId: row.accountId,
      workspaceId: row.workspaceId,
      provider: row.provider,
      name: row.name,
      label: row.label,
      apiKey,
      disabled: row.disabled,
      isFallback: row.isFallback,
      isRequired: row.isRequired,
      isByokOnly: row.isByokOnly,
      sortOrder: row.sortOrder,
      allowedModels: row.allowedModels,
      allowedApiKeyHashes: row.allowedApiKeyHashes,
      allowedUserIds: row.allowedUserIds,
      declaredZdr: row.declaredZdr,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    };
  }
}
