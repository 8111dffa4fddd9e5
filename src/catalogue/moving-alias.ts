// A name that stands for another chat model from a day on.
import type { DatedPrice } from './catalogue-model.js';

export interface DatedTarget extends Pick<DatedPrice, 'effectiveFrom' | 'source'> {
  /** The id of a chat model. */
  readonly target: string;
}

export interface MovingAlias {
  /** `~vendor/name`: no model has such an id, and callers see that it moves. */
  readonly id: string;
  readonly name: string;
  /** Newest first. */
  readonly targets: readonly DatedTarget[];
  /** Whether the operator has taken it out of lists and calls. */
  readonly disabled?: boolean;
  /** Its targets have them. */
  readonly endpoints: readonly [];
}
