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
