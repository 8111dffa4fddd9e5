// Processes the items of one turn of the event loop in one go. A call passes through more code than a processor's caches
// hold: for twenty calls in a row, each part of it is fetched once and not twenty times (docs/decisions/0009-hot-path.md).

export class TickBatch<Item> {
  private items: Item[] = [];

  /** `schedule` runs a callback at the end of the turn. */
  constructor(
    private readonly work: (item: Item) => void,
    private readonly schedule: (run: () => void) => void = setImmediate,
  ) {}

  /** Items are processed in order of arrival, when everything that is ready in this turn has been read. */
  add(item: Item): void {
    if (this.items.push(item) === 1) this.schedule(() => this.run());
  }

  private run(): void {
    const { items } = this;
    this.items = [];
    let begun = 0;
    try {
      for (const item of items) {
        begun++;
        this.work(item);
      }
    } finally {
      // An item that throws does not affect the others.
      for (const item of items.slice(begun)) this.add(item);
    }
  }
}
