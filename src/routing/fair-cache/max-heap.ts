// A binary heap. Its members store their position, so that a change of weight moves a member in O(log n).

export interface HeapMember {
  readonly weight: number;
  /** Set by the heap. */
  heapIndex: number;
}

export class MaxHeap<Member extends HeapMember> {
  private readonly members: Member[] = [];

  /** The heaviest member. */
  get top(): Member | undefined {
    return this.members[0];
  }

  get size(): number {
    return this.members.length;
  }

  add(member: Member): void {
    this.put(member, this.members.length);
    this.update(member);
  }

  remove(member: Member): void {
    const last = this.members.pop();
    if (last === undefined || last === member) return;
    this.put(last, member.heapIndex);
    this.update(last);
  }

  /** Call it after the weight of a member has changed. */
  update(member: Member): void {
    this.sink(member);
    this.rise(member);
  }

  private rise(member: Member): void {
    while (member.heapIndex > 0) {
      const parent = this.members[(member.heapIndex - 1) >> 1];
      if (parent === undefined || parent.weight >= member.weight) return;
      this.swap(parent, member);
    }
  }

  private sink(member: Member): void {
    for (;;) {
      const left = this.members[2 * member.heapIndex + 1];
      const right = this.members[2 * member.heapIndex + 2];
      const heavier = left !== undefined && right !== undefined && right.weight > left.weight ? right : left;
      if (heavier === undefined || heavier.weight <= member.weight) return;
      this.swap(member, heavier);
    }
  }

  private swap(one: Member, other: Member): void {
    const { heapIndex } = one;
    this.put(one, other.heapIndex);
    this.put(other, heapIndex);
  }

  private put(member: Member, index: number): void {
    this.members[index] = member;
    member.heapIndex = index;
  }
}
