/** Does something with each, so many at a time; gives what came of them in their order. */
export async function inPool<In, Out>(
  size: number,
  all: readonly In[],
  act: (one: In) => Promise<Out>,
): Promise<readonly Out[]> {
  const out = new Map<number, Out>();
  const queue = [...all.entries()];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      out.set(next[0], await act(next[1]));
  };
  await Promise.all(Array.from({ length: Math.min(size, all.length) }, work));
  return [...out].toSorted(([a], [b]) => a - b).map(([, one]) => one);
}

/** Mulberry32: small, fast, and the same everywhere for the same seed. Gives numbers in [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
