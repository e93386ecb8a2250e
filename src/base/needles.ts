/** How many code units of a needle are hashed: shorter ones are searched for one by one. */
const WINDOW = 8;
/** Of 32: a million bits are 128 KiB. */
const HASH_BITS = 20;
const BASE = 0x01_00_01_93;
/** What the first of eight code units adds to a hash. */
const FIRST = Array.from({ length: WINDOW - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);

/**
 * Tells whether a text has one of many substrings, as fast for a hundred thousand as for one (Karp and Rabin,
 * 1987): it walks only the text, with a hash over the last eight code units.
 */
export class Needles {
  readonly #byHash = new Map<number, Set<string>>();
  /** A bit for each hash: a look into the map at each place would take ten times as long. */
  readonly #hashes = new Uint8Array(2 ** HASH_BITS / 8);
  readonly #short = new Set<string>();

  /** Every text has an empty one. */
  add(needle: string): void {
    if (needle.length < WINDOW) return void this.#short.add(needle);
    const hash = hashOf(needle);
    const known = this.#byHash.get(hash);
    const bit = hash >>> (32 - HASH_BITS);
    this.#hashes[bit >>> 3] = (this.#hashes[bit >>> 3] ?? 0) | (1 << (bit & 7));
    if (known === undefined) this.#byHash.set(hash, new Set([needle]));
    else known.add(needle);
  }

  areIn(text: string): boolean {
    for (const needle of this.#short) if (text.includes(needle)) return true;
    if (this.#byHash.size === 0 || text.length < WINDOW) return false;
    let hash = hashOf(text);
    for (let at = 0; ; at += 1) {
      const bit = hash >>> (32 - HASH_BITS);
      if (((this.#hashes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0)
        for (const needle of this.#byHash.get(hash) ?? []) if (text.startsWith(needle, at)) return true;
      if (at + WINDOW >= text.length) return false;
      hash = Math.imul(hash - Math.imul(text.charCodeAt(at), FIRST), BASE) + text.charCodeAt(at + WINDOW);
      hash |= 0;
    }
  }
}

/** Of the first eight code units. */
function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < WINDOW; at += 1) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0;
  return hash;
}
