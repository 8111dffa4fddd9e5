// Content filters of a guardrail on the wire. Contract: docs/contract.md#guardrails.
import {
  BUILTIN_PATTERNS,
  BUILTIN_SLUGS,
  contentFiltersProblem,
  FILTER_ACTIONS,
  MAX_FILTER_LABEL,
  MAX_PATTERN_LENGTH,
  SCAN_SCOPES,
} from '../../domain/guardrails/content-filter.js';
import type {
  BuiltinFilter,
  BuiltinSlug,
  ContentFilter,
  FilterAction,
  ScanScope,
} from '../../domain/guardrails/content-filter.js';
import { rejectMember } from '../../domain/errors.js';
import { EnumField, TextField } from '../../http/fields/scalar-fields.js';

const ACTION = { description: 'Of a match: replace it, refuse the call, or count it.', example: 'redact' };

export class ContentFilterDto {
  @TextField({
    minLength: 1,
    maxLength: MAX_PATTERN_LENGTH,
    description: 'RE2. It must not match the empty text.',
    example: 'PROJ-[0-9]+',
  })
  pattern: string;

  @EnumField(FILTER_ACTIONS, ACTION) action: FilterAction;

  @TextField({
    optional: true,
    nullable: true,
    maxLength: MAX_FILTER_LABEL,
    description:
      'Replaces matches, in brackets, and names the filter in refusals. Null: `[REDACTED]`, and its index.',
  })
  label?: string | null;
}

export class BuiltinFilterDto {
  @EnumField(BUILTIN_SLUGS, {
    message: `must be one of ${BUILTIN_SLUGS.join(', ')}; person-name and address are not supported: they need a language model`,
  })
  slug: BuiltinSlug;

  @EnumField(FILTER_ACTIONS, ACTION) action: FilterAction;

  @TextField({
    optional: true,
    nullable: true,
    maxLength: MAX_FILTER_LABEL,
    description: 'Replaces matches, in brackets. Derived; ignored in requests.',
  })
  label?: string | null;

  @EnumField(SCAN_SCOPES, {
    optional: true,
    default: 'all_messages',
    description: 'The messages that it reads.',
  })
  scan_scope?: ScanScope;
}

/** Throws `invalid_request` for patterns that cannot work. */
export function fromContentFilterDtos(dtos: readonly ContentFilterDto[]): readonly ContentFilter[] {
  const filters = dtos.map(({ pattern, action, label = null }) => ({
    pattern,
    action,
    label: label || null,
  }));
  const found = contentFiltersProblem(filters);
  if (found !== null) {
    const { index, problem } = found;
    rejectMember(index === null ? 'content_filters' : `content_filters[${index}].pattern`, problem);
  }
  return filters;
}

export function fromBuiltinFilterDtos(dtos: readonly BuiltinFilterDto[]): readonly BuiltinFilter[] {
  return dtos.map(({ slug, action, scan_scope: scanScope = 'all_messages' }) => ({
    slug,
    action,
    scanScope,
  }));
}

export function toContentFilterDto({ pattern, action, label }: ContentFilter): ContentFilterDto {
  return { pattern, action, label };
}

export function toBuiltinFilterDto({ slug, action, scanScope }: BuiltinFilter): BuiltinFilterDto {
  return { slug, action, label: BUILTIN_PATTERNS[slug].placeholder, scan_scope: scanScope };
}
