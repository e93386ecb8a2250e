/** Pseudo-random numbers from 0 to below 1, determined by the seed (mulberry32). */
export function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    return mixed(state) / 2 ** 32;
  };
}

/**
 * The place of `index` in a shuffle of 0 to below `count` that the key determines; each place is taken once.
 * A Feistel network over the next even power of two, walked until in range, so no shuffle is kept.
 */
export function shuffledPlace(index: number, count: number, key: number): number {
  const bits = Math.max(1, Math.ceil(Math.log2(Math.max(2, count)) / 2));
  const half = 2 ** bits;
  let place = index;
  do {
    let [left, right] = [Math.floor(place / half), place % half];
    for (let round = 0; round < ROUNDS; round += 1) {
      [left, right] = [right, left ^ (mixed(key ^ mixed(right + half * round)) & (half - 1))];
    }
    place = left * half + right;
  } while (place >= count);
  return place;
}

const ROUNDS = 6;

/** A number of 32 bits for a text (FNV-1a). */
export function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** 32 bits in which each bit of the input has its part. */
function mixed(value: number): number {
  let bits = Math.imul(value ^ (value >>> 15), 1 | value);
  bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
  return (bits ^ (bits >>> 14)) >>> 0;
}
