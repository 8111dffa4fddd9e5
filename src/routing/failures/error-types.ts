// The words of `error_type` for the codes that providers give to a refused request (docs/contract.md#errors). Prose is never
// read for them.

/** By the provider's code in lower case. */
const ERROR_TYPES: ReadonlyMap<string, string> = new Map([
  ['context_length_exceeded', 'context_length_exceeded'],
  ['max_tokens_exceeded', 'max_tokens_exceeded'],
  ['token_limit_exceeded', 'token_limit_exceeded'],
  ['string_above_max_length', 'string_too_long'],
  ['string_too_long', 'string_too_long'],
  ['content_filter', 'content_policy_violation'],
  ['content_policy_violation', 'content_policy_violation'],
  ['responsibleaipolicyviolation', 'content_policy_violation'],
  ['moderation_blocked', 'content_policy_violation'],
  ['invalid_prompt', 'invalid_prompt'],
  ['invalid_image', 'invalid_image'],
  ['invalid_image_format', 'unsupported_image_format'],
  ['unsupported_image_format', 'unsupported_image_format'],
  ['unsupported_image_media_type', 'unsupported_image_format'],
  ['image_parse_error', 'invalid_image'],
  ['invalid_base64_image', 'invalid_image'],
  ['invalid_image_url', 'image_download_failed'],
  ['failed_to_download_image', 'image_download_failed'],
  ['image_download_failed', 'image_download_failed'],
  ['image_file_not_found', 'image_not_found'],
  ['image_not_found', 'image_not_found'],
  ['image_too_large', 'image_too_large'],
  ['image_file_too_large', 'image_too_large'],
  ['image_too_small', 'image_too_small'],
]);

/** Undefined: the code says no more than the status. */
export function errorTypeOfCode(code: string | null): string | undefined {
  return code === null ? undefined : ERROR_TYPES.get(code.toLowerCase());
}
