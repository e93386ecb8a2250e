/**
 * A seed of its own for everything that has a name, so that one trial can be repeated without those before
 * it.
 */
export function seedOf(seed: number, name: string): number {
  let hash = 2_166_136_261 ^ seed;
  for (const letter of name) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619);
  return hash >>> 0;
}

/**
 * `count` of the items, evenly spread over the list, beginning at a drawn one; all of them when there are no
 * more.
 */
export function spread<T>(items: readonly T[], count: number, draw: () => number): T[] {
  if (count >= items.length) return [...items];
  const step = items.length / count;
  const start = draw() * step;
  return Array.from({ length: count }, (_, at) => items[Math.floor(start + at * step)] as T);
}
