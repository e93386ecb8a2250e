import { readable } from '../../format.ts';
import { show } from '../../text.ts';

/** Text as it stands inside an element or an attribute of HTML or SVG: printable, and no character of it is markup. */
export function escaped(text: string): string {
  return show(text, LONGEST).replace(/[&<>"'`]/gu, (character) => `&#${character.charCodeAt(0)};`);
}

/** The same of words that a person reads: times in them are told as everywhere. */
export function escapedWords(text: string): string {
  return escaped(readable(text, LONGEST));
}

/** Texts are cut when the record is made; this only bounds a mistake. */
const LONGEST = 4_000;
