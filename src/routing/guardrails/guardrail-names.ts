// Resolves the names of models and providers in a guardrail, so that calls compare ids alone (docs/contract.md#guardrails).
import { Injectable } from '@nestjs/common';
import { Catalogue, ChatCatalogue, RerankCatalogue } from '../../catalogue/catalogue.js';
import { rejectMember } from '../../domain/errors.js';
import { ProviderNames } from '../provider-names.js';

@Injectable()
export class GuardrailNames {
  constructor(
    private readonly embeddings: Catalogue,
    private readonly chat: ChatCatalogue,
    private readonly rerank: RerankCatalogue,
    private readonly providers: ProviderNames,
  ) {}

  /**
   * The canonical slugs. Throws `invalid_request` for a name that is no model's: a rule that is silently ignored would permit
   * what it forbids. Names that are `known` stay, though the catalogue may no longer have them.
   */
  models(names: readonly string[], member: string, known: readonly string[]): readonly string[] {
    return unique(names, known, (name, index) => {
      const found = this.chat.find(name) ?? this.embeddings.find(name) ?? this.rerank.find(name);
      if (!found) return rejectMember(`${member}[${index}]`, 'is no name of a model that GET /models lists');
      return found.model.canonicalSlug ?? found.model.id;
    });
  }

  /** The slugs of providers and tags of endpoints. Throws as models() does. */
  endpoints(names: readonly string[], member: string, known: readonly string[]): readonly string[] {
    return unique(names, known, (name, index) => this.providers.resolveName(name, `${member}[${index}]`));
  }
}

function unique(
  names: readonly string[],
  known: readonly string[],
  resolve: (name: string, index: number) => string,
): readonly string[] {
  const kept = new Set(known);
  return [...new Set(names.map((name, index) => (kept.has(name) ? name : resolve(name, index))))];
}
