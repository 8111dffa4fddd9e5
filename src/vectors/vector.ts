/** A vector in one of the three forms that it travels in. */
export type Vector =
  /** A JSON array of numbers as text, brackets included. */
  | { readonly form: 'json'; readonly text: Buffer }
  /** Little-endian float32 in base64, without quotes. */
  | { readonly form: 'base64'; readonly text: Buffer }
  | { readonly form: 'floats'; readonly values: Float32Array };
