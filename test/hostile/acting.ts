/*
 * What a terminal does with bytes, read strictly: whatever is not on the short list of what Lifeboat itself
 * writes counts as having acted, so that an unknown sequence is found as well as a known one.
 */

/** Whatever acts on a terminal or hides in a text of several lines. */
const ACTS = /[\p{Cc}--\n]|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{DI}/v;

/**
 * The first place of a text, written without any colour, that acts or hides: readable, or empty when there is
 * none.
 */
export function actingIn(text: string): string {
  const at = text.search(ACTS);
  return at < 0 ? '' : JSON.stringify(text.slice(Math.max(0, at - 30), at + 30));
}

/**
 * What the screen and the lines of Lifeboat write themselves. No hostile text has a look with one of these
 * numbers that is not here.
 */
const OWN =
  /^\u001b\]2;[^\p{Cc}]{0,120}\u0007|^\u001b\[2[23];2t|^\u001b\[(?:\?(?:1049|25|2004|2026)[hl]|\d*[ABCDEFGJK]|\d*;?\d*H|(?:(?:[0127]|22|27|3[1236]|39)(?:;(?:[127]|3[1236]))*)?m)/u;

/** The longest of them is the title of a window. */
const LONGEST = 200;

/**
 * The sequences in the bytes of a terminal that Lifeboat never writes, readable; and, with `typed`, none of
 * what the line discipline echoes of that.
 */
export function foreignIn(bytes: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.slice(at, at + LONGEST);
    const own = OWN.exec(rest)?.[0] ?? (/^[\r\n]/u.test(rest) ? rest.slice(0, 1) : undefined);
    const character = String.fromCodePoint(bytes.codePointAt(at) ?? 0);
    if (own === undefined && ACTS.test(character))
      found.push(JSON.stringify(bytes.slice(Math.max(0, at - 30), at + 40)));
    at += own?.length ?? character.length;
  }
  return found;
}
