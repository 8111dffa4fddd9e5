// The names of members that an endpoint did not get, as attempts record them.
import { boundedText } from '../text/bounded-text.js';

const MAX_EDITS = 100;
const MAX_EDIT_LENGTH = 100;

/** Names are the caller's: bounded in length and number, as each attempt records them. */
export function recordedEdits(names: Iterable<string>): readonly string[] {
  return [...names].slice(0, MAX_EDITS).map((name) => boundedText(name, MAX_EDIT_LENGTH));
}
