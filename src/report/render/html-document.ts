import { counted } from '../../base/format.ts';
import type { Brand } from '../brand.ts';
import { COLOURS } from './colours.ts';
import {
  type Block,
  type Document,
  type Figure,
  type Inline,
  inlines,
  linkTarget,
  type Rows,
  type Section,
  type Text,
} from './document.ts';
import { GANTT_LEGEND, ganttSvg } from './gantt-svg.ts';
import { type Markup, markup, NOTHING, readableText, trusted } from './markup.ts';
import { barsSvg, courseSvg, LEGEND } from './svg.ts';

/**
 * One HTML file, for light, dark and narrow screens and for print: no script and nothing external, with a
 * policy that forbids both. No address in it comes from a text.
 */
export function htmlDocument(document: Document, brand: Brand = {}): string {
  return [...htmlParts(document, brand)].join('');
}

/** The same page in parts, none larger than a block or a row of a table. */
export function* htmlParts(document: Document, brand: Brand = {}): Generator<string> {
  for (const part of page(document, brand)) yield part.toString();
}

function* page(document: Document, brand: Brand): Generator<Markup> {
  const { title, lead, sections, appendix = [], mark, foot, footBlocks = [] } = document;
  const images = brand.logo === undefined ? '' : '; img-src data:';
  const contents = [...sections, ...appendix].map(
    ({ title: name }, at) => markup`<li><a href="#part-${at + 1}">${name}</a></li>\n`,
  );
  yield markup`<!DOCTYPE html>
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
`;
  for (const one of lead) yield* block(one);
  yield markup`</header>
<nav aria-label="Contents"><ol>
${contents}</ol></nav>
<main>
`;
  yield* sectionParts(sections, 1);
  if (appendix.length > 0) {
    yield markup`<details class="appendix"><summary>Appendix: ${counted(appendix.length, 'section')}, for whoever checks the record. It is printed while it is open.</summary>\n`;
    yield* sectionParts(appendix, sections.length + 1);
    yield markup`</details>\n`;
  }
  yield markup`</main>
<footer><p>${foot}</p>
`;
  for (const one of footBlocks) yield* block(one);
  yield markup`</footer>
</body>
</html>
`;
}

function* sectionParts(sections: readonly Section[], first: number): Generator<Markup> {
  for (const [at, { title, blocks }] of sections.entries()) {
    const id = first + at;
    yield markup`<section aria-labelledby="part-${id}">\n<h2 id="part-${id}">${title}</h2>\n`;
    for (const one of blocks) yield* block(one);
    yield markup`</section>\n`;
  }
}

/** The mark on every printed page; only letters, digits and its separators get into the style. */
function pageMark(mark: string | undefined): string {
  if (mark === undefined) return '';
  const text = mark.replaceAll(/[^\w ,.-]/gu, '');
  return `@page { @bottom-left { content: "${text}"; font: 8pt sans-serif; } }\n`;
}

/** The logo is an image with a data address, so that nothing in it can act. */
function brandLine({ name, logo }: Brand, mark: string | undefined): Markup {
  const image =
    logo === undefined
      ? NOTHING
      : trusted(`<img class="logo" alt="" src="data:image/png;base64,${logo.base64}">`);
  const marked = mark === undefined ? NOTHING : markup` <span class="mark">${mark}</span>`;
  return markup`<p class="kind">${image}${name === undefined ? '' : `${name}: `}Lifeboat report${marked}</p>`;
}

function* block(one: Block): Generator<Markup> {
  if (one.kind === 'table') yield* wideTable(one.caption, one.head, one.rows);
  else yield wholeBlock(one);
}

function wholeBlock(one: Exclude<Block, { readonly kind: 'table' }>): Markup {
  switch (one.kind) {
    case 'text':
      return markup`<p>${line(one.text)}</p>`;
    case 'alarm':
      return markup`<div class="alarm" role="note"><p><strong>${readableText(one.title)}</strong></p><p>${line(one.text)}</p></div>`;
    case 'facts':
      return factTable(one.caption, one.rows);
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
    case 'gantt':
      return picture(one.caption, ganttSvg(one.gantt, one.caption), GANTT_LEGEND);
    case 'tasks':
      return markup`<ul>${one.items.map((item) => markup`<li>\u2610 ${line(item)}</li>`)}</ul>`;
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
 * Can be scrolled sideways, also with the keyboard. On a narrow screen each row of a table with many columns
 * becomes a list, so its cells carry the titles of their columns.
 */
function* wideTable(caption: string, head: readonly string[], rows: Rows): Generator<Markup> {
  const isLarge = head.length > 4;
  const titles = head.map((text) => (text === '' ? markup`<td></td>` : markup`<th scope="col">${text}</th>`));
  const cell = (text: Text, at: number) =>
    isLarge
      ? markup`<td data-label="${head[at] ?? ''}"><div>${line(text)}</div></td>`
      : markup`<td>${line(text)}</td>`;
  yield markup`<div class="wide${isLarge ? ' large' : ''}" role="group" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${titles}</tr></thead><tbody>\n`;
  for (const row of rows) yield markup`<tr>${row.map(cell)}</tr>\n`;
  yield markup`</tbody></table></div>`;
}

function figure({ label, value, note, tone }: Figure): Markup {
  return markup`<div class="${tone}"><dt>${label}</dt><dd><b>${value}</b><span>${words(note)}</span></dd></div>`;
}

function picture(caption: string, svg: Markup, legend: readonly (readonly [string, string])[]): Markup {
  const keys = legend.map(([name, text]) => markup`<li><i class="b-${name}"></i>${text}</li>`);
  return markup`<figure><div class="wide" role="group" tabindex="0" aria-label="Picture">${svg}</div><ul class="legend">${keys}</ul><figcaption>${caption}</figcaption></figure>`;
}

const GAP = markup`<span class="gap" role="img" aria-label="to be filled in"></span>`;

function line(text: Text): Markup {
  return markup`${inlines(text).map(piece)}`;
}

function piece(one: Inline): Markup {
  if (typeof one === 'string') return words(one);
  if ('code' in one) {
    const kind = /\S{25,}/u.test(one.code) ? 'long' : 'whole';
    const code = markup`<code class="${kind}">${one.code}</code>`;
    const file = linkTarget(one.file);
    return file === undefined ? code : markup`<a href="${file}">${code}</a>`;
  }
  if ('typed' in one) return markup`<code class="long">${one.typed}</code>`;
  if ('strong' in one) return markup`<strong>${words(one.strong)}</strong>`;
  if ('good' in one) return markup`<strong class="good">${words(one.good)}</strong>`;
  if ('bad' in one) return markup`<strong class="bad">${words(one.bad)}</strong>`;
  return GAP;
}

function words(text: string): Markup {
  return pieces(readableText(text));
}

/** A time, or something longer than any word. */
const SPECIAL = /(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d+)?(?: UTC)?|\S{25,})/u;

/** Breaks only words longer than any real word, and on a narrow screen a time, after its date. */
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

/**
 * Colours keep a contrast of 4.5 to 1; what a colour says, a word says too. Only a `.long` word is broken,
 * where it does not fit. A table is laid out by the longest word of each column. A picture is as wide as its
 * letters need: on a narrower screen words say that it scrolls, since not every browser shows a bar.
 */
const STYLE = `
${COLOURS}* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(.75rem, 3vw, 2.5rem) 3rem; max-width: 76rem;
  background: var(--page); color: var(--ink); overflow-wrap: break-word;
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.long { overflow-wrap: anywhere; } .whole, .time { white-space: nowrap; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 2.2rem 0 .6rem; padding-bottom: .2rem; font-size: 1.25rem; border-bottom: 1px solid var(--line); }
p { margin: .6rem 0; }
ul { margin: .6rem 0; padding-left: 1.3rem; }
a { color: var(--link); }
code, pre { font: .86em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { padding: .05em .3em; border-radius: 3px; background: var(--soft); }
pre { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft);
  white-space: pre-wrap; overflow-wrap: anywhere; }
.kind { margin: 0; color: var(--mute); font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; }
.mark { display: inline-block; margin-left: .6rem; padding: .1rem .6rem; border: 2px solid; border-radius: 4px;
  color: var(--ink); font-weight: 700; letter-spacing: .03em; text-transform: none; }
.appendix { margin-top: 2.2rem; } .appendix > summary { cursor: pointer; font-size: 1.1rem; font-weight: 600; }
.logo { display: block; max-width: min(16rem, 100%); max-height: 4rem; margin-bottom: .6rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
.alarm { margin: 1rem 0; padding: .9rem 1.2rem; border: 3px solid var(--alarm); border-radius: 6px;
  background: var(--alarm); color: var(--on-alarm); }
.alarm p { margin: .2rem 0; } .alarm strong { font-size: 1.15rem; letter-spacing: .01em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .75rem;
  margin: 1rem 0 1.4rem; }
.figures > div { min-width: 0; padding: .7rem .9rem; border: 1px solid var(--line); border-radius: 6px;
  border-left: 4px solid var(--line); background: var(--soft); }
.figures .good { color: inherit; border-left-color: var(--good); }
.figures .bad { color: inherit; border-left-color: var(--bad); }
.figures dt { color: var(--mute); font-size: .8rem; }
.figures dd { margin: 0; }
.figures b { display: block; font-size: 1.35rem; line-height: 1.3; }
.figures .good b { color: var(--good); } .figures .bad b { color: var(--bad); }
.figures dd > span { display: block; color: var(--mute); font-size: .82rem; line-height: 1.4; }
nav { margin: 1.5rem 0; padding: .7rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
nav ol { columns: 13rem; margin: 0; padding-left: 1.6rem; font-size: .9rem; } nav li { padding-right: .5rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { padding: .2rem 0 .35rem; color: var(--mute); font-size: .82rem; text-align: left; }
th, td { padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td:has(.long) { min-width: 10rem; }
thead th { color: var(--mute); font-weight: 600; border-bottom: 2px solid var(--line); }
.facts { margin: .4rem 0; } .facts th { width: min(13rem, 34%); color: var(--mute); font-weight: 500; }
.wide { margin: .8rem 0; overflow-x: auto; }
.wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.fill { padding: 0; list-style: none; }
.fill li { display: flex; flex-wrap: wrap; gap: 0 .8rem; align-items: end; min-height: 2.1rem; }
.fill li > span:first-child { max-width: 100%; color: var(--mute); font-size: .9rem; }
.gap { flex: 1 1 10rem; display: inline-block; min-width: 4.5rem; height: 1.3em;
  border-bottom: 1px dashed var(--mute); }
td .gap { width: 100%; }
figure { margin: 1rem 0; } figcaption { color: var(--mute); font-size: .82rem; }
svg { display: block; width: 100%; min-width: 43rem; height: auto;
  font: 12px system-ui, "Segoe UI", Roboto, Arial, sans-serif; }
svg text { fill: var(--ink); } svg .mute { fill: var(--mute); } svg .on { fill: var(--on-bar); }
svg .grid { stroke: var(--line); } svg .lane { fill: var(--soft); }
svg .limit { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 4; }
svg .limit-text { fill: var(--bad); font-weight: 600; }
svg .mark { fill: var(--page); stroke: var(--mute); stroke-width: 1.5; }
svg .stem { stroke: var(--mute); stroke-dasharray: 2 3; }
svg .loud .mark { fill: var(--bad); stroke: var(--bad); } svg .loud text { fill: var(--page); }
svg .loud .stem { stroke: var(--bad); }
.b-decide { fill: var(--decide); background: var(--decide); }
.b-queue { fill: var(--queue); background: var(--queue); }
.b-execute { fill: var(--execute); background: var(--execute); }
.b-human { fill: var(--human); background: var(--human); }
.b-rebind { fill: var(--rebind); background: var(--rebind); }
.b-work { fill: var(--work); background: var(--work); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .4rem 0; padding: 0; list-style: none;
  font-size: .82rem; }
.legend i { display: inline-block; width: .85em; height: .85em; margin-right: .4em; border-radius: 2px;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
footer { margin-top: 2.5rem; padding-top: .6rem; border-top: 1px solid var(--line); color: var(--mute);
  font-size: .85rem; }
@media screen and (max-width: 46rem) {
  figure::before { content: "Wider than the screen: scroll it sideways \\2192"; display: block;
    margin-bottom: .3rem; color: var(--mute); font-size: .82rem; }
  h1 { font-size: 1.5rem; } .time { white-space: normal; } code.whole { white-space: normal; }
  th, td { padding-right: .45rem; }
  td:has(.long) { min-width: 6rem; }
  .large thead { display: none; }
  .large tr { display: block; padding: .35rem 0; border-bottom: 2px solid var(--line); }
  .large tbody tr:first-child { border-top: 2px solid var(--line); }
  .large td { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .6rem; min-width: 0;
    padding: .12rem 0; border: 0; }
  .large td::before { content: attr(data-label); color: var(--mute); font-size: .82rem; }
  .large td:has(> div:empty) { display: none; }
}
@page { size: A4; margin: 16mm 15mm 18mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; } }
@media print {
  :root { color-scheme: light; --page: #fff; --soft: #f3f5f8; --line: #b8c0ca; --ink: #000; --mute: #414b57;
    --link: #000; --good: #0c5429; --bad: #981b14; --alarm: #a01212; --on-alarm: #fff; --on-bar: #fff;
    --decide: #4a5f8f; --queue: #80621a; --execute: #14706b; --human: #a34617; --rebind: #6a4a97;
    --work: #56606e; }
  html { font-size: 9.5pt; } body { max-width: none; padding: 0; } nav { display: none; }
  h1 { font-size: 18pt; } h2 { margin-top: 6mm; font-size: 12pt; break-after: avoid; }
  caption, thead, p:has(+ .wide) { break-after: avoid; } thead { display: table-header-group; }
  tr, figure, .figures, .alarm, .fill li, pre { break-inside: avoid; }
  .wide { overflow: visible; } svg { min-width: 0; }
  .large table { font-size: 7.5pt; } .large th, .large td { padding-right: .5rem; }
  td:has(.long) { min-width: 6rem; }
  .figures { grid-template-columns: repeat(5, 1fr); gap: 2mm; } .figures b { font-size: 11pt; }
  .figures > div { padding: 2mm; }
  .alarm, svg, .figures > div { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
