import type { Lane, ResolvedGroup } from '../../machines/parts/plan.ts';
import { type Child, lanesOf, type PlanFacts, type Start } from './schedule.ts';

/** By its number in the group. */
interface Placed {
  readonly at: number;
  readonly lane: Lane;
  readonly children: Child[];
}

/**
 * The lanes of a group on which its scheduler can decide something next, for a plan in which nothing fails.
 * The decisions are the same as with all lanes, without a look at each of ten thousand lanes at each end of
 * one: lanes take slots in their order, so only as many as there are slots can be next.
 */
export class Front {
  readonly #group: ResolvedGroup;
  #begun = 0;
  /** Lanes of the waves that have begun, in order; those before `#next` have come to the front. */
  #queue: Placed[] = [];
  #next = 0;
  #shown: Placed[] = [];
  /** With `by-step`: lanes that have passed the present step. */
  #passed: Placed[] = [];
  /** The done lane that ended last: the next wave counts from it. */
  #last: Placed | undefined;

  constructor(group: ResolvedGroup) {
    this.#group = group;
  }

  /** The next wave begins, with this many lanes. */
  begin(size: number): void {
    const lanes = this.#group.lanes.slice(this.#begun, this.#begun + size);
    this.#queue = lanes.map((lane, index) => ({ at: this.#begun + index, lane, children: [] }));
    this.#next = 0;
    this.#begun += lanes.length;
  }

  /** The child of a start is at work. */
  start(start: Start): void {
    this.#shown.find(({ lane }) => lane.name === start.lane)?.children.push({ ...start, state: 'at-work' });
  }

  /** The child of a start is done, `endedMs` after the plan began. */
  end(start: Start, endedMs: number): void {
    const at = this.#shown.findIndex(({ lane }) => lane.name === start.lane);
    const [placed] = this.#shown.slice(at, at + 1);
    if (placed === undefined) return;
    placed.children.splice(-1, 1, { ...start, state: 'done', endedMs });
    if (this.#group.order !== 'by-step') return;
    this.#shown.splice(at, 1);
    this.#passed.push(placed);
  }

  narrowed(facts: PlanFacts): Pick<PlanFacts, 'groups' | 'children'> {
    this.#fill(facts);
    const all = [...(this.#last === undefined ? [] : [this.#last]), ...this.#shown];
    // One lane stands for all later waves.
    const ahead = this.#group.lanes.slice(this.#begun, this.#begun + 1);
    return this.#facts(all, ahead);
  }

  /** As many as there are slots, as others are done. */
  #fill(facts: PlanFacts): void {
    for (;;) {
      const { groups, children } = this.#facts(this.#shown, []);
      const standing = groups.flatMap((group) => lanesOf(group, { ...facts, children }));
      this.#shown = this.#shown.filter((placed, index) => {
        const state = standing[index]?.state;
        if (state?.is !== 'done') return true;
        if (endOf(placed) >= endOf(this.#last)) this.#last = placed;
        return false;
      });
      if (this.#shown.length === 0 && this.#next >= this.#queue.length && this.#passed.length > 0) {
        this.#queue = this.#passed.toSorted((one, other) => one.at - other.at);
        this.#next = 0;
        this.#passed = [];
      }
      const free = this.#group.maxConcurrency - this.#shown.length;
      const more = this.#queue.slice(this.#next, this.#next + free);
      if (more.length === 0) return;
      this.#next += more.length;
      this.#shown.push(...more);
    }
  }

  #facts(placed: readonly Placed[], ahead: readonly Lane[]): Pick<PlanFacts, 'groups' | 'children'> {
    const lanes = [...placed.map(({ lane }) => lane), ...ahead];
    return {
      groups: [{ ...this.#group, lanes, sizes: [placed.length] }],
      children: placed.flatMap(({ children }) => children),
    };
  }
}

function endOf(placed: Placed | undefined): number {
  return Math.max(0, ...(placed?.children ?? []).map(({ endedMs }) => endedMs ?? 0));
}
