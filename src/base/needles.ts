/** How many code units of a needle are hashed: shorter ones are searched for one by one. */
const WINDOW = 8;
/** Of 32, at first and at most: 128 bytes and 128 KiB. */
const FEWEST_BITS = 10;
const MOST_BITS = 20;
/** Bits for each needle: with fewer, too many places look into the map. */
const BITS_EACH = 64;
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
  #hashes = new Uint8Array(2 ** FEWEST_BITS / 8);
  /** How far a hash is shifted to the number of its bit. */
  #shift = 32 - FEWEST_BITS;
  readonly #short = new Set<string>();

  /** Every text has an empty one. */
  add(needle: string): void {
    if (needle.length < WINDOW) return void this.#short.add(needle);
    const hash = hashOf(needle);
    const known = this.#byHash.get(hash);
    if (known !== undefined) return void known.add(needle);
    this.#byHash.set(hash, new Set([needle]));
    if (this.#byHash.size * BITS_EACH > this.#hashes.length * 8 && this.#shift > 32 - MOST_BITS)
      this.#widen();
    else this.#mark(hash);
  }

  #mark(hash: number): void {
    const bit = hash >>> this.#shift;
    this.#hashes[bit >>> 3] = (this.#hashes[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  #widen(): void {
    this.#shift -= 1;
    this.#hashes = new Uint8Array(2 ** (32 - this.#shift) / 8);
    for (const hash of this.#byHash.keys()) this.#mark(hash);
  }

  areIn(text: string): boolean {
    for (const needle of this.#short) if (text.includes(needle)) return true;
    if (this.#byHash.size === 0 || text.length < WINDOW) return false;
    const [hashes, shift] = [this.#hashes, this.#shift];
    let hash = hashOf(text);
    for (let at = 0; ; at += 1) {
      const bit = hash >>> shift;
      if (((hashes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0)
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
