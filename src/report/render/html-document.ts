import { type Block, type Document, type Figure, type Inline, inlines, type Text } from './document.ts';
import { type Markup, markup, readableText, trusted } from './markup.ts';
import { STYLE } from './style.ts';
import { barsSvg } from './svg-bars.ts';
import { courseSvg, LEGEND } from './svg-course.ts';

/**
 * A document as one HTML file: no script, nothing from outside, a policy that forbids both, for bright and
 * dark screens and for print. No address in it comes from a text.
 */
export function htmlDocument({ title, lead, sections, foot }: Document): string {
  const contents = sections.map(
    ({ title: name }, at) => markup`<li><a href="#part-${at + 1}">${name}</a></li>\n`,
  );
  const parts = sections.map(
    ({ title: name, blocks }, at) =>
      markup`<section aria-labelledby="part-${at + 1}">\n<h2 id="part-${at + 1}">${name}</h2>\n${blocks.map(block)}</section>\n`,
  );
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>
${trusted(STYLE)}</style>
</head>
<body>
<header>
<p class="kind">Lifeboat report</p>
<h1>${title}</h1>
${lead.map(block)}</header>
<nav aria-label="Contents"><ol>
${contents}</ol></nav>
<main>
${parts}</main>
<footer><p>${foot}</p></footer>
</body>
</html>
`;
  return page.toString();
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

/** A table that can be scrolled sideways on a narrow screen, also with the keyboard. */
function wideTable(caption: string, head: readonly string[], rows: readonly (readonly Text[])[]): Markup {
  const titles = head.map((text) => markup`<th scope="col">${text}</th>`);
  const body = rows.map((row) => markup`<tr>${row.map((cell) => markup`<td>${line(cell)}</td>`)}</tr>\n`);
  const size = head.length > 4 ? ' large' : '';
  return markup`<div class="wide${size}" role="region" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${titles}</tr></thead><tbody>\n${body}</tbody></table></div>`;
}

function figure({ label, value, note, tone }: Figure): Markup {
  return markup`<div class="${tone}"><dt>${label}</dt><dd><b>${value}</b><span>${readableText(note)}</span></dd></div>`;
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
  if (typeof one === 'string') return markup`${readableText(one)}`;
  if ('code' in one) return markup`<code>${one.code}</code>`;
  if ('strong' in one) return markup`<strong>${readableText(one.strong)}</strong>`;
  if ('good' in one) return markup`<strong class="good">${readableText(one.good)}</strong>`;
  if ('bad' in one) return markup`<strong class="bad">${readableText(one.bad)}</strong>`;
  return GAP;
}
