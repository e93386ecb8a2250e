import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';

/** HTML or SVG. Made by `markup` alone, so no text in it acts. */
export type Markup = HtmlEscapedString;

type Value = string | number | Markup | readonly Markup[];

/**
 * Markup from a template. Every text that is put in is made printable and escaped; only other markup stands
 * as it is.
 */
export function markup(template: TemplateStringsArray, ...values: readonly Value[]): Markup {
  // The library promises a value at once as long as it is given none that has to be waited for.
  return html(
    template,
    ...values.map((value) => (typeof value === 'string' ? show(value, LONGEST) : value)),
  ) as Markup;
}

/** A text of the program itself that is markup already. */
export function trusted(text: string): Markup {
  return raw(text);
}

/** A text that a person reads, for `markup`: times in it are written as everywhere. */
export function readableText(text: string): string {
  return readable(text, LONGEST);
}

export const NOTHING: Markup = raw('');

/** Texts are cut when the record is made; this only bounds a mistake. */
const LONGEST = 4_000;
