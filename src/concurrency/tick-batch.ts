// Does in one go what has come in one turn of the event loop. A call passes through more code than a processor's caches
// hold: done for twenty calls in a row, each part of it is fetched once and not twenty times (docs/decisions/0009).

export class TickBatch<Item> {
  private items: Item[] = [];

  /** `schedule`: for the end of a turn. */
  constructor(
    private readonly work: (item: Item) => void,
    private readonly schedule: (run: () => void) => void = setImmediate,
  ) {}

  /** The work is done when everything that is ready in this turn has been read, in the order of coming. */
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
      // One whose work throws does not take the others along.
      for (const item of items.slice(begun)) this.add(item);
    }
  }
}
