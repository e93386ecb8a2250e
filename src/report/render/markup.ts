import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import { readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';

/** HTML or SVG. Only `markup` creates it, so texts in it are inert. */
export type Markup = HtmlEscapedString;

type Value = string | number | Markup | readonly Markup[];

/** Every inserted text is made printable and escaped; only other markup stays unchanged. */
export function markup(template: TemplateStringsArray, ...values: readonly Value[]): Markup {
  // The library returns a string at once as long as no value is a promise.
  return html(
    template,
    ...values.map((value) => (typeof value === 'string' ? show(value, LONGEST) : value)),
  ) as Markup;
}

/** A text of the program itself that is already markup. */
export function trusted(text: string): Markup {
  return raw(text);
}

/** A text for a person, for `markup`: with times in the usual format. */
export function readableText(text: string): string {
  return readable(text, LONGEST);
}

export const NOTHING: Markup = raw('');

/** Texts are cut when the record is made; this only limits mistakes. */
const LONGEST = 4_000;
