declare const untrusted: unique symbol;

/**
 * Text from a server, a file or an operator's paste. It is stored raw, and `show` cleans it in every
 * renderer, so that no byte of it can act on a terminal (escape sequences, C1, OSC, bidi).
 */
export type Untrusted = string & { readonly [untrusted]: true };

/** Free at run time; the type system keeps the text away from renderers. */
export function untrust(text: string): Untrusted {
  return text as Untrusted;
}

const DEFAULT_LIMIT = 300;

/*
 * Controls (C0, DEL, C1), formats (zero-width, bidi, tag characters, soft hyphen, byte-order mark), lone
 * surrogates, line and paragraph separators, and characters that Unicode draws as nothing (variation
 * selectors, Hangul fillers): everything that acts on a terminal or hides.
 */
const DANGEROUS = /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/gu;

/** No script stacks more marks on one letter; more would be drawn over the lines around it. */
const HEAP = /(\p{M}{8})\p{M}+/gu;

/** Printable ASCII stays unchanged. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Makes text printable on one line: each control, bidi and invisible character becomes U+FFFD (a line break
 * or tab a space), as do marks beyond eight on one letter. Normalised (NFC) and cut to `limit` characters (at
 * least 1), the last an ellipsis if cut.
 */
export function show(text: string, limit: number = DEFAULT_LIMIT): string {
  // Most texts are plain, and a screen shows thousands a second.
  if (text.length <= limit && PLAIN.test(text)) return text;
  const head = text.length > limit * 4 ? text.slice(0, limit * 4) : text;
  const clean = head
    .normalize('NFC')
    .replace(/\r\n|[\r\n\t]/gu, ' ')
    .replace(DANGEROUS, '\ufffd')
    .replace(HEAP, '$1\ufffd');
  const characters = Array.from(clean);
  if (characters.length <= limit && head.length === text.length) return clean;
  return `${characters.slice(0, Math.max(0, limit - 1)).join('')}…`;
}

/**
 * JSON in printable ASCII: escapes what `JSON.stringify` leaves raw (C1, bidi, separators), so that `--json`
 * is as harmless on a terminal as any renderer. Every JSON parser reads the same values.
 */
export function printableJson(value: unknown): string {
  // `undefined` and functions have no JSON; inside a list they are null too.
  return (JSON.stringify(value) ?? 'null').replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** For an answer that may improve soon. Not used if the service is gone: see `viewBanner`. */
export const TRY_AGAIN_SOON = 'try again in a moment';
