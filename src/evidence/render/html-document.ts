import { type Block, type Document, type Figure, type Inline, inlines, type Text } from './document.ts';
import { escaped, escapedWords } from './escape.ts';
import { STYLE } from './style.ts';
import { barsSvg } from './svg-bars.ts';
import { courseSvg, LEGEND } from './svg-course.ts';

/**
 * A document as one HTML file: no script, nothing from outside, a policy that forbids both, for bright and dark screens and for paper.
 * No address in it comes from a text.
 */
export function htmlDocument({ title, lead, sections, foot }: Document): string {
  const contents = sections.map(
    ({ title: name }, at) => `<li><a href="#part-${at + 1}">${escaped(name)}</a></li>`,
  );
  const parts = sections.map(
    ({ title: name, blocks }, at) =>
      `<section aria-labelledby="part-${at + 1}">\n<h2 id="part-${at + 1}">${escaped(name)}</h2>\n${blocks.map(block).join('\n')}\n</section>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>
${STYLE}</style>
</head>
<body>
<header>
<p class="kind">Lifeboat report</p>
<h1>${escaped(title)}</h1>
${lead.map(block).join('\n')}
</header>
<nav aria-label="Contents"><ol>
${contents.join('\n')}
</ol></nav>
<main>
${parts.join('\n')}
</main>
<footer><p>${escaped(foot)}</p></footer>
</body>
</html>
`;
}

function block(one: Block): string {
  switch (one.kind) {
    case 'text':
      return `<p>${line(one.text)}</p>`;
    case 'alarm':
      return `<div class="alarm" role="note"><p><strong>${escapedWords(one.title)}</strong></p><p>${line(one.text)}</p></div>`;
    case 'facts':
      return factTable(one.caption, one.rows);
    case 'table':
      return wideTable(one.caption, one.head, one.rows);
    case 'list':
      return `<ul>${one.items.map((item) => `<li>${line(item)}</li>`).join('')}</ul>`;
    case 'lines':
      return `<p>${escaped(one.caption)}:</p>\n<pre>${one.lines.map(escaped).join('\n')}</pre>`;
    case 'blanks':
      return `<ul class="fill" aria-label="To be filled in">${one.labels.map((label) => `<li><span>${escaped(label)}</span>${GAP}</li>`).join('')}</ul>`;
    case 'figures':
      return `<dl class="figures">${one.figures.map(figure).join('')}</dl>`;
    case 'picture':
      return picture(one.caption, courseSvg(one.course, one.caption), LEGEND);
    case 'bars':
      return picture(one.caption, barsSvg(one.runs, one.caption), LEGEND);
    default:
      return one satisfies never;
  }
}

function factTable(caption: string, rows: readonly (readonly [string, Text])[]): string {
  const body = rows.map(
    ([label, value]) => `<tr><th scope="row">${escaped(label)}</th><td>${line(value)}</td></tr>`,
  );
  return `<table class="facts"><caption>${escaped(caption)}</caption><tbody>\n${body.join('\n')}\n</tbody></table>`;
}

/** A table that can be scrolled sideways on a narrow screen, also with the keyboard. */
function wideTable(caption: string, head: readonly string[], rows: readonly (readonly Text[])[]): string {
  const titles = head.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${line(cell)}</td>`).join('')}</tr>`);
  const size = head.length > 4 ? ' large' : '';
  return `<div class="wide${size}" role="region" tabindex="0" aria-label="${escaped(caption)}"><table><caption>${escaped(caption)}</caption><thead><tr>${titles}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>`;
}

function figure({ label, value, note, tone }: Figure): string {
  return `<div class="${tone}"><dt>${escaped(label)}</dt><dd><b>${escaped(value)}</b><span>${escapedWords(note)}</span></dd></div>`;
}

function picture(caption: string, svg: string, legend: readonly (readonly [string, string])[]): string {
  const keys = legend.map(([name, text]) => `<li><i class="b-${name}"></i>${escaped(text)}</li>`).join('');
  return `<figure><div class="wide" role="region" tabindex="0" aria-label="Picture">${svg}</div><ul class="legend">${keys}</ul><figcaption>${escaped(caption)}</figcaption></figure>`;
}

const GAP = '<span class="gap" role="img" aria-label="to be filled in"></span>';

function line(text: Text): string {
  return inlines(text).map(piece).join('');
}

function piece(one: Inline): string {
  if (typeof one === 'string') return escapedWords(one);
  if ('code' in one) return `<code>${escaped(one.code)}</code>`;
  if ('strong' in one) return `<strong>${escapedWords(one.strong)}</strong>`;
  if ('good' in one) return `<strong class="good">${escapedWords(one.good)}</strong>`;
  if ('bad' in one) return `<strong class="bad">${escapedWords(one.bad)}</strong>`;
  return GAP;
}
