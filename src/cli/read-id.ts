// Ids in the options of commands.
import { isUUID } from 'class-validator';

/** Throws an Error with one line for the terminal. */
export function readId(option: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isUUID(text)) throw new Error(`${option} must be a UUID`);
  return text?.toLowerCase();
}
