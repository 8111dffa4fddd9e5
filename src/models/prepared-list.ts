// The list that most callers ask for, made once until something that it shows changes.
import { PreparedBody } from '../http/server/conditional-get.js';

export class PreparedList {
  private state: readonly unknown[] = [];
  private body: PreparedBody | null = null;

  /** `state`: what the list shows, compared member by member. */
  get(state: readonly unknown[], makeList: () => object): PreparedBody {
    const isSame =
      this.state.length === state.length && this.state.every((one, index) => one === state[index]);
    if (this.body && isSame) return this.body;
    this.body = new PreparedBody(makeList());
    this.state = state;
    return this.body;
  }
}
