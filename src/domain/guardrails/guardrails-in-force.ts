// The guardrails that govern one call: what they leave together, and which of them exclude something. The stricter rule wins.
import { compileFilters } from './filtered-text.js';
import type { CompiledFilters } from './filtered-text.js';
import type { NamedGuardrail } from './guardrail-hit.js';
import type {
  Guardrail,
  GuardrailContent,
  GuardrailLimit,
  GuardrailRef,
  GuardrailRules,
  ZdrVendor,
} from './guardrail.js';
import { NO_RULES, ZDR_VENDORS } from './guardrail.js';

export interface AppliedGuardrail
  extends GuardrailRef, GuardrailRules, GuardrailLimit, GuardrailContent, Pick<Guardrail, 'name'> {}

export interface GuardrailsInForce {
  /** At least one. */
  readonly guardrails: readonly AppliedGuardrail[];
  /** All of their rules. */
  readonly rules: GuardrailRules;
  /** All of their content filters; null: none. */
  readonly filters: CompiledFilters | null;
}

/** The facts of a model that guardrails compare. */
export interface GuardedModel {
  readonly id: string;
  /** Absent: `id`. */
  readonly canonicalSlug?: string;
  readonly aliases?: readonly string[];
}

/** The facts of an endpoint with its credential. */
export interface GuardedEndpoint {
  /** The id of its model. */
  readonly modelId: string;
  /** `bedrock/eu`, or the slug of its provider. */
  readonly tag: string;
  readonly trains: boolean;
  readonly keepsNothing: boolean;
  /** Null: its price is not known. */
  readonly isFree: boolean | null;
}

export function shownGuardrail({ id, name, scope }: NamedGuardrail): NamedGuardrail {
  return { id, name, scope };
}

/** Null: none. */
export function inForce(guardrails: readonly AppliedGuardrail[]): GuardrailsInForce | null {
  if (guardrails.length === 0) return null;
  return { guardrails, rules: guardrails.reduce(intersect, NO_RULES), filters: compileFilters(guardrails) };
}

/** Permits what both permit. */
export function intersect(one: GuardrailRules, other: GuardrailRules): GuardrailRules {
  const vendors = ZDR_VENDORS.map((vendor): [ZdrVendor, boolean | null] => {
    const [first, second] = [one.enforceZdr[vendor], other.enforceZdr[vendor]];
    return [vendor, first === true || second === true ? true : (first ?? second)];
  });
  return {
    allowedModels: common(one.allowedModels, other.allowedModels),
    ignoredModels: union(one.ignoredModels, other.ignoredModels),
    allowedProviders: commonTags(one.allowedProviders, other.allowedProviders),
    ignoredProviders: union(one.ignoredProviders, other.ignoredProviders),
    enforceZdr: Object.fromEntries(vendors) as Record<ZdrVendor, boolean | null>,
    enablePaidModelTraining: bothEnabled(one.enablePaidModelTraining, other.enablePaidModelTraining),
    enableFreeModelTraining: bothEnabled(one.enableFreeModelTraining, other.enableFreeModelTraining),
    allowedDataRegions: common(one.allowedDataRegions, other.allowedDataRegions),
  };
}

/** By the ids of the model alone: the catalogue has resolved the caller's name for it. */
export function permitsModel(
  { allowedModels, ignoredModels }: GuardrailRules,
  { id, canonicalSlug = id, aliases = [] }: GuardedModel,
): boolean {
  if (allowedModels?.includes(canonicalSlug) === false) return false;
  // A canonical slug that the catalogue has replaced since is an alias.
  return !ignoredModels?.some((name) => name === id || name === canonicalSlug || aliases.includes(name));
}

export function permitsEndpoint(
  rules: GuardrailRules,
  { modelId, tag, trains, keepsNothing, isFree }: GuardedEndpoint,
): boolean {
  const { allowedProviders, ignoredProviders, enforceZdr } = rules;
  if (allowedProviders?.some((name) => covers(name, tag)) === false) return false;
  if (ignoredProviders?.some((name) => covers(name, tag))) return false;
  if (enforceZdr[zdrVendorOf(modelId)] === true && !keepsNothing) return false;
  if (!trains) return true;
  if (rules.enablePaidModelTraining === false && isFree !== true) return false;
  return rules.enableFreeModelTraining !== false || isFree === false;
}

/** This service serves every region from one address. */
export function permitsRegion({ allowedDataRegions }: GuardrailRules): boolean {
  return allowedDataRegions?.includes('global') !== false;
}

/** A base slug matches all its variants (`bedrock` matches `bedrock/eu`), a full tag only itself. */
function covers(name: string, tag: string): boolean {
  const [wanted, given] = [name.toLowerCase(), tag.toLowerCase()];
  return given === wanted || given.startsWith(`${wanted}/`);
}

const VENDORS: Readonly<Record<string, ZdrVendor>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  'x-ai': 'xai',
};

function zdrVendorOf(modelId: string): ZdrVendor {
  const [author = ''] = modelId.split('/');
  return Object.hasOwn(VENDORS, author) ? (VENDORS[author] ?? 'other') : 'other';
}

function common<Name extends string>(
  one: readonly Name[] | null,
  other: readonly Name[] | null,
): readonly Name[] | null {
  if (one === null || other === null) return one ?? other;
  const names = new Set(other);
  return one.filter((name) => names.has(name));
}

/** A tag that both lists match is matched by the narrower of their names. */
function commonTags(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  const narrower = (names: readonly string[], wider: readonly string[]) =>
    names.filter((name) => wider.some((wide) => covers(wide, name)));
  return [...new Set([...narrower(one, other), ...narrower(other, one)])];
}

function union(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  return [...new Set([...one, ...other])];
}

function bothEnabled(one: boolean | null, other: boolean | null): boolean | null {
  return one === false || other === false ? false : (one ?? other);
}
