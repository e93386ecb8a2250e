import { counted } from '../../base/format.ts';
import type { Brand } from '../brand.ts';
import {
  type Block,
  type Document,
  type Figure,
  type Inline,
  inlines,
  type Section,
  type Text,
} from './document.ts';
import { type Markup, markup, NOTHING, readableText, trusted } from './markup.ts';
import { STYLE } from './style.ts';
import { barsSvg, courseSvg, LEGEND } from './svg.ts';

/**
 * A document as one HTML file: no script, nothing external, a policy that forbids both, for light and dark
 * screens, narrow ones, and for print. No address in it comes from a text.
 */
export function htmlDocument(document: Document, brand: Brand = {}): string {
  const { title, lead, sections, appendix = [], mark, foot } = document;
  const images = brand.logo === undefined ? '' : '; img-src data:';
  const contents = [...sections, ...appendix].map(
    ({ title: name }, at) => markup`<li><a href="#part-${at + 1}">${name}</a></li>\n`,
  );
  const part = ({ title: name, blocks }: Section, id: number) =>
    markup`<section aria-labelledby="part-${id}">\n<h2 id="part-${id}">${name}</h2>\n${blocks.map(block)}</section>\n`;
  const parts = sections.map((section, at) => part(section, at + 1));
  const more = appendix.map((section, at) => part(section, sections.length + at + 1));
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${images}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${mark === undefined ? '' : `${mark}: `}${title}</title>
<style>
${trusted(STYLE)}${trusted(pageMark(mark))}</style>
</head>
<body>
<header>
${brandLine(brand, mark)}
<h1>${title}</h1>
${lead.map(block)}</header>
<nav aria-label="Contents"><ol>
${contents}</ol></nav>
<main>
${parts}${appendix.length === 0 ? NOTHING : markup`<details class="appendix"><summary>Appendix: ${counted(appendix.length, 'section')}, for whoever checks the record. It is printed while it is open.</summary>\n${more}</details>\n`}</main>
<footer><p>${foot}</p></footer>
</body>
</html>
`;
  return page.toString();
}

/** The mark on every printed page; only letters, digits and its separators get into the style. */
function pageMark(mark: string | undefined): string {
  if (mark === undefined) return '';
  const text = mark.replaceAll(/[^\w ,.-]/gu, '');
  return `@page { @bottom-left { content: "${text}"; font: 8pt sans-serif; } }\n`;
}

/**
 * The owner of the report, and its run. The logo is an image with a data address, so that nothing in it can
 * act.
 */
function brandLine({ name, logo }: Brand, mark: string | undefined): Markup {
  const image =
    logo === undefined
      ? NOTHING
      : trusted(`<img class="logo" alt="" src="data:image/png;base64,${logo.base64}">`);
  const marked = mark === undefined ? NOTHING : markup` <span class="mark">${mark}</span>`;
  return markup`<p class="kind">${image}${name === undefined ? '' : `${name}: `}Lifeboat report${marked}</p>`;
}

function block(one: Block): Markup {
  switch (one.kind) {
    case 'text':
      return markup`<p>${line(one.text)}</p>`;
    case 'alarm':
      return markup`<div class="alarm" role="note"><p><strong>${readableText(one.title)}</strong></p><p>${line(one.text)}</p></div>`;
    case 'facts':
      return factTable(one.caption, one.rows);
    case 'table':
      return wideTable(one.caption, one.head, one.rows);
    case 'list':
      return markup`<ul>${one.items.map((item) => markup`<li>${line(item)}</li>`)}</ul>`;
    case 'lines':
      return markup`<p>${one.caption}:</p>\n<pre>${one.lines.map((row) => markup`${row}\n`)}</pre>`;
    case 'blanks':
      return markup`<ul class="fill" aria-label="To be filled in">${one.labels.map((label) => markup`<li><span>${label}</span>${GAP}</li>`)}</ul>`;
    case 'figures':
      return markup`<dl class="figures">${one.figures.map(figure)}</dl>`;
    case 'picture':
      return picture(one.caption, courseSvg(one.course, one.caption), LEGEND);
    case 'bars':
      return picture(one.caption, barsSvg(one.runs, one.caption), LEGEND);
    default:
      return one satisfies never;
  }
}

function factTable(caption: string, rows: readonly (readonly [string, Text])[]): Markup {
  const body = rows.map(
    ([label, value]) => markup`<tr><th scope="row">${label}</th><td>${line(value)}</td></tr>\n`,
  );
  return markup`<table class="facts"><caption>${caption}</caption><tbody>\n${body}</tbody></table>`;
}

/**
 * A table that can be scrolled sideways, including with the keyboard. On a narrow screen each row of a table
 * with many columns becomes a list, so its cells carry the titles of their columns.
 */
function wideTable(caption: string, head: readonly string[], rows: readonly (readonly Text[])[]): Markup {
  const isLarge = head.length > 4;
  const titles = head.map((text) => markup`<th scope="col">${text}</th>`);
  const cell = (text: Text, at: number) =>
    isLarge
      ? markup`<td data-label="${head[at] ?? ''}"><div>${line(text)}</div></td>`
      : markup`<td>${line(text)}</td>`;
  const body = rows.map((row) => markup`<tr>${row.map(cell)}</tr>\n`);
  return markup`<div class="wide${isLarge ? ' large' : ''}" role="region" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${titles}</tr></thead><tbody>\n${body}</tbody></table></div>`;
}

function figure({ label, value, note, tone }: Figure): Markup {
  return markup`<div class="${tone}"><dt>${label}</dt><dd><b>${value}</b><span>${words(note)}</span></dd></div>`;
}

function picture(caption: string, svg: Markup, legend: readonly (readonly [string, string])[]): Markup {
  const keys = legend.map(([name, text]) => markup`<li><i class="b-${name}"></i>${text}</li>`);
  return markup`<figure><div class="wide" role="region" tabindex="0" aria-label="Picture">${svg}</div><ul class="legend">${keys}</ul><figcaption>${caption}</figcaption></figure>`;
}

const GAP = markup`<span class="gap" role="img" aria-label="to be filled in"></span>`;

function line(text: Text): Markup {
  return markup`${inlines(text).map(piece)}`;
}

function piece(one: Inline): Markup {
  if (typeof one === 'string') return words(one);
  if ('code' in one) {
    const kind = /\S{25,}/u.test(one.code) ? 'long' : 'whole';
    return markup`<code class="${kind}">${one.code}</code>`;
  }
  if ('strong' in one) return markup`<strong>${words(one.strong)}</strong>`;
  if ('good' in one) return markup`<strong class="good">${words(one.good)}</strong>`;
  if ('bad' in one) return markup`<strong class="bad">${words(one.bad)}</strong>`;
  return GAP;
}

/** A text for a person, with times in the usual format. */
function words(text: string): Markup {
  return pieces(readableText(text));
}

/** A time, or something longer than any word. */
const SPECIAL = /(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?(?: UTC)?|\S{25,})/u;

/**
 * Words are not broken at the end of a line, except those longer than any real word. A time is broken only on
 * a narrow screen, after its date.
 */
function pieces(text: string): Markup {
  const parts = text.split(SPECIAL).map((part, at) => {
    if (at % 2 === 0) return markup`${part}`;
    const [, date, clock] = /^(\d{4}-\d{2}-\d{2}) (.*)$/u.exec(part) ?? [];
    if (date === undefined || clock === undefined) return markup`<span class="long">${part}</span>`;
    const [first, second] = [date, clock].map((one) => markup`<span class="whole">${one}</span>`);
    return markup`<span class="time">${first ?? NOTHING} ${second ?? NOTHING}</span>`;
  });
  return markup`${parts}`;
}
