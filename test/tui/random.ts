import { randomFrom as numbersFrom } from '../random.ts';

/** Chance with a seed: the same seed gives the same walk, so that what went wrong can be seen again. */
export interface Random {
  /** From 0 up to and without `below`; a whole number. */
  readonly upTo: (below: number) => number;
  /** True in this many of a hundred cases. */
  readonly inPercent: (percent: number) => boolean;
  /** One of these; there has to be one. */
  readonly one: <Item>(items: readonly Item[]) => Item;
  /** Up to `count` new items. */
  readonly many: <Item>(count: number, make: (at: number) => Item) => readonly Item[];
}

export function randomFrom(seed: number): Random {
  const next = numbersFrom(seed);
  const upTo = (below: number) => Math.floor(next() * below);
  return {
    upTo,
    inPercent: (percent) => upTo(100) < percent,
    one: (items) => {
      if (items.length === 0) throw new Error('there is nothing to choose from');
      return items[upTo(items.length)] as (typeof items)[number];
    },
    many: (count, make) => Array.from({ length: count }, (_, at) => make(at)),
  };
}
