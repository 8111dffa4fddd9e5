// The kinds of destinations: their names, and the fields of their settings.
import kinds from 'virtual:destination-kinds';

export interface KindField {
  /** The member of `config`. */
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly default: string | null;
  /** Null: any text. */
  readonly choices: readonly string[] | null;
}

export interface DestinationKind {
  readonly type: string;
  /** The other spelling. */
  readonly neutralType: string | null;
  /** The name of the platform. */
  readonly name: string;
  readonly fields: readonly KindField[];
}

export const DESTINATION_KINDS: readonly DestinationKind[] = kinds;

/** By either spelling. */
export function findKind(type: string | undefined): DestinationKind | undefined {
  return DESTINATION_KINDS.find((kind) => kind.type === type || kind.neutralType === type);
}

const ACRONYMS = new Set(['api', 'url', 'id', 'dsn', 'otlp', 'ml']);

/** `apiKey` as "API key". */
export function labelOf(field: string): string {
  const words = field
    .replace(/([A-Z])/g, ' $1')
    .toLowerCase()
    .split(' ');
  const spelled = words.map((word) => (ACRONYMS.has(word) ? word.toUpperCase() : word));
  const [first = '', ...rest] = spelled;
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' ');
}
