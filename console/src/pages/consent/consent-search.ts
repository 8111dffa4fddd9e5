/** Of the address that a program opens, as the helpers of client libraries build it. */
export interface ConsentSearch {
  readonly callback_url?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: string | undefined;
  /** USD, as a text of the program. */
  readonly limit?: string | undefined;
  readonly key_label?: string | undefined;
  readonly usage_limit_type?: string | undefined;
  readonly expires_at?: string | undefined;
  /** Goes back to the program with the code. */
  readonly state?: string | undefined;
}
