// Prices for chat models that a provider lists and the catalogue does not have (docs/contract.md#unlisted-models).
import type { ChatEndpoint } from '../domain/chat/chat-model.js';

export interface UnlistedRule {
  /** `unlisted/name`. */
  readonly id: string;
  readonly name: string;
  /** Patterns of the provider's names; `*` stands for any characters. */
  readonly match: readonly string[];
  /** Everything but the name at the provider. Its prices are a ceiling. */
  readonly template: Omit<ChatEndpoint, 'upstreamModel'>;
  /** None: the names are those of its provider. */
  readonly endpoints: readonly [];
  readonly disabled?: boolean;
}

export function matches({ match }: Pick<UnlistedRule, 'match'>, name: string): boolean {
  return match.some((pattern) => matchesPattern(pattern, name));
}

/** In linear steps back: a regular expression with many stars is not. */
function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let starAt = -1;
  let resumeAt = 0;
  for (let index = 0; index < name.length;) {
    if (pattern[at] === '*') {
      starAt = at++;
      resumeAt = index;
    } else if (pattern[at] === name[index]) {
      at++;
      index++;
    } else if (starAt >= 0) {
      at = starAt + 1;
      index = ++resumeAt;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
