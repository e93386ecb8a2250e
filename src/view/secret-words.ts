import { counted } from '../base/format.ts';

/** What may be said of a secret that is being typed: never the secret, nor any of its characters. */
export interface SecretWords {
  /** `43 characters, at least 12 are needed`. */
  readonly length: string;
  /** How long it would take to guess; undefined if nothing can be chosen any more. */
  readonly strength: string | undefined;
  /** What is often wrong with a secret, in one sentence each. */
  readonly pitfalls: readonly string[];
}

/** What a key of 256 bits takes, which is what backups are encrypted with. */
const FULL_BYTES = 32;

/**
 * Length, strength and pitfalls of `text`. `isNew` for a secret that is chosen now; one in use cannot be
 * changed. `lostLineEnd` if a paste ended with a line end, which is never taken.
 */
export function secretWords(
  text: string,
  { minLength, isNew, lostLineEnd }: { minLength: number; isNew: boolean; lostLineEnd: boolean },
): SecretWords {
  const length = Array.from(text).length;
  const least = text.length < minLength ? `at least ${minLength} are needed` : 'long enough';
  return {
    length: minLength < 2 ? counted(length, 'character') : `${counted(length, 'character')}, ${least}`,
    strength: isNew && length > 0 ? strengthOf(text) : undefined,
    pitfalls: [
      ...(lostLineEnd ? ['the line end after it was removed: it is not part of the secret'] : []),
      ...(/^\s/u.test(text) ? ['it begins with a space'] : []),
      ...(/\s$/u.test(text) ? ['it ends with a space'] : []),
      ...(/\S\s+\S/u.test(text) ? ['it contains a space'] : []),
      ...(/[^\x20-\x7e]/u.test(text)
        ? ['it has non-ASCII characters, which other tools may encode differently']
        : []),
      ...(isNew && length > 0 && Buffer.byteLength(text) < FULL_BYTES
        ? [`it has fewer than ${FULL_BYTES} bytes, so it is weaker than the encryption`]
        : []),
    ],
  };
}

/** Why a secret of this text is refused for its length; blanks around it do not count. */
export function tooShort(text: string, least: number): string | undefined {
  const { length } = Array.from(text.trim());
  if (length >= least) return undefined;
  return `at least ${least} characters are needed, and these are ${length}`;
}

/**
 * An upper bound from length and alphabet: right for random characters, and far too high for words. Repeated
 * characters count as a smaller alphabet.
 */
function strengthOf(text: string): string {
  const characters = Array.from(text);
  const alphabet = ALPHABETS.reduce((sum, [is, size]) => sum + (is.test(text) ? size : 0), 0);
  const distinct = new Set(characters).size;
  const size = characters.length > 2 * distinct ? distinct : alphabet;
  const bits = Math.floor(characters.length * Math.log2(Math.max(1, size)));
  const word = bits < 64 ? 'weak' : bits < 112 ? 'fair' : 'strong';
  return `${word}: at most ${bits} bits, if every character is random`;
}

const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/u, 26],
  [/[A-Z]/u, 26],
  [/[0-9]/u, 10],
  [/[ -/:-@[-`{-~]/u, 33],
  [/[^\x20-\x7e]/u, 100],
];
