import { OPENSSL_KEY_BYTES } from '../../machines/parts/question.ts';
import { counted } from '../base/format.ts';

/** Never contains the secret, nor any of its characters. */
export interface SecretWords {
  /** `43 characters, at least 12 are needed`. */
  readonly length: string;
  /** Undefined for a secret that is already in use. */
  readonly strength: string | undefined;
  /** One sentence each. */
  readonly pitfalls: readonly string[];
}

/** Backups are encrypted with 256 bits. */
const FULL_BYTES = 32;

/**
 * `isNew`: chosen now; a secret in use cannot be changed. `lostLineEnd`: a paste ended with a line end, which
 * is never taken. `guessedBits`: the estimate of a program that guesses, if there is one.
 */
export function secretWords(
  text: string,
  { minLength, isNew, lostLineEnd, guessedBits }: SecretLook,
): SecretWords {
  const length = Array.from(text).length;
  const least = text.length < minLength ? `at least ${minLength} are needed` : 'long enough';
  return {
    length: minLength < 2 ? counted(length, 'character') : `${counted(length, 'character')}, ${least}`,
    strength: isNew && length > 0 ? strengthOf(text, guessedBits) : undefined,
    pitfalls: [
      ...(lostLineEnd ? ['the line end after it was removed: it is not part of the secret'] : []),
      ...(/^[ \t]/u.test(text) ? ['it begins with a space'] : []),
      ...(/[ \t]$/u.test(text) ? ['it ends with a space'] : []),
      ...(/\S[ \t]+\S/u.test(text) ? ['it contains a space'] : []),
      ...(/[^\x20-\x7e]/u.test(text) ? [nonAscii(text)] : []),
      ...(Buffer.byteLength(text) > OPENSSL_KEY_BYTES
        ? [`openssl reads only its first ${OPENSSL_KEY_BYTES} bytes`]
        : []),
      ...(isNew && length > 0 && Buffer.byteLength(text) < FULL_BYTES
        ? [`it has fewer than ${FULL_BYTES} bytes, so it is weaker than the encryption`]
        : []),
    ],
  };
}

interface SecretLook {
  readonly minLength: number;
  readonly isNew: boolean;
  readonly lostLineEnd: boolean;
  readonly guessedBits?: number | undefined;
}

/** Invisible, or like an ASCII letter: typed again by another person, it is a different key. */
function nonAscii(text: string): string {
  if (/[\p{Zs}\p{Cf}\p{Mn}]/u.test(text.replaceAll(' ', '')))
    return 'it has a character that cannot be seen, such as a no-break space or a byte order mark';
  if (
    /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\uff01-\uff5e]/u.test(text) &&
    /[A-Za-z]/u.test(text)
  )
    return 'it has letters of another alphabet that look like Latin ones';
  return 'it has non-ASCII characters, which other tools may encode differently';
}

/** Spaces around the secret do not count. */
export function tooShort(text: string, least: number): string | undefined {
  const { length } = Array.from(text.trim());
  if (length >= least) return undefined;
  return `at least ${least} characters are needed, and these are ${length}`;
}

/**
 * An upper bound from length and alphabet: right for random characters, far too high for words. Repeated
 * characters count as a smaller alphabet.
 */
function strengthOf(text: string, guessed = Number.POSITIVE_INFINITY): string {
  const characters = Array.from(text);
  const alphabet = ALPHABETS.reduce((sum, [is, size]) => sum + (is.test(text) ? size : 0), 0);
  const distinct = new Set(characters).size;
  const size = characters.length > 2 * distinct ? distinct : alphabet;
  const most = Math.floor(characters.length * Math.log2(Math.max(1, size)));
  const bits = Math.min(most, Math.floor(guessed));
  const word = bits < 64 ? 'weak' : bits < 112 ? 'fair' : 'strong';
  if (guessed >= most) return `${word}: at most ${bits} bits, if every character is random`;
  return `${word}: about ${bits} bits for a program that knows words and patterns`;
}

const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/u, 26],
  [/[A-Z]/u, 26],
  [/[0-9]/u, 10],
  [/[ -/:-@[-`{-~]/u, 33],
  [/[^\x20-\x7e]/u, 100],
];

/** In bits. */
type Estimate = (text: string) => number;

let loading: Promise<Estimate> | undefined;
let loaded: Estimate | undefined;

/**
 * By zxcvbn, which knows words, names, dates, keyboards and repetitions. The first call loads its
 * dictionaries: some 50 ms.
 */
export function loadEstimate(): Promise<Estimate> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Estimate> {
  const { guessedBits } = await import('./guessed-bits.ts');
  let last: { readonly text: string; readonly bits: number } | undefined;
  loaded = (text) => {
    if (last?.text !== text) last = { text, bits: guessedBits(text) };
    return last.bits;
  };
  return loaded;
}

/** Undefined until the dictionaries are loaded. */
export function estimateIfLoaded(text: string): number | undefined {
  if (loaded !== undefined) return loaded(text);
  loadEstimate().catch(() => undefined);
  return undefined;
}
