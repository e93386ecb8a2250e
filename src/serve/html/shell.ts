import { hash } from 'node:crypto';
import { formatTime } from '../../base/format.ts';
import { type Markup, markup, NOTHING, trusted } from '../../report/render/markup.ts';
import type { Head } from '../page.ts';
import { pastePart } from './parts.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** A server keeps a page fresh; a file stays as it is. */
export type Delivery =
  | {
      readonly how: 'served';
      readonly twin: string;
    }
  | { readonly how: 'file' };

/** Seconds after which a page without a script loads itself again. */
const RELOAD = 20;

/** A whole page around its parts. Every text in it is inert. */
export function shell(head: Head, parts: readonly Markup[], delivery: Delivery): string {
  const { title, headline, tone, at, log, text } = head;
  const isServed = delivery.how === 'served';
  const fresh = isServed
    ? markup`<noscript><meta http-equiv="refresh" content="${RELOAD}"></noscript>\n`
    : markup`<meta http-equiv="Content-Security-Policy" content="${trusted(FILE_POLICY)}">\n`;
  const links = [
    ['/', 'Recoveries'],
    ['/evaluation', 'Recoverable now?'],
    ['/drills', 'Drills'],
    ...(isServed ? [[delivery.twin, 'This page as JSON']] : []),
  ].map(([href = '', name = '']) => markup`<li><a href="${href}">${name}</a></li>`);
  const nav = isServed ? markup`<nav aria-label="Pages"><ul>${links}</ul></nav>\n` : NOTHING;
  const stale = isServed
    ? markup`<p class="stale">OUT OF DATE: this page has had no news for a minute or more. Load it again.</p>\n`
    : NOTHING;
  const since = isServed ? markup`<span id="age"></span>` : markup` (a copy, which stays as it is)`;
  const page = markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
${fresh}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${headline}</title>
<style>${trusted(STYLE)}</style>
</head>
<body data-size="${log.size}" data-age="0">
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="kind">Lifeboat, read only</p>
<h1>${title}</h1>
<p id="headline" class="${tone}" role="status">${headline}</p>
<div data-part="as-of"><p class="asof">As of <time datetime="${at}">${formatTime(at)} UTC</time>${since}, log size ${log.size}, root <span title="${log.root}">${log.root.slice(0, 16)}</span></p></div>
${stale}</header>
${nav}<main id="main">
${parts}${pastePart(text)}</main>
<footer><p>This page changes nothing, and holds no key and no token. What is on record: <code>${'lifeboat report'}</code>, <code>${'lifeboat audit verify'}</code>.</p></footer>
${isServed ? markup`<script>${trusted(SCRIPT)}</script>\n` : NOTHING}</body>
</html>
`;
  return isServed ? page.toString() : withoutLinks(page.toString());
}

/** A served page with the seconds that have passed since it was made. */
export function aged(page: string, seconds: number): string {
  return page.replace('data-age="0"', `data-age="${Math.max(0, Math.round(seconds))}"`);
}

/** A file has no other pages beside it. */
function withoutLinks(page: string): string {
  return page.replaceAll(/<a href="\/[^"]*">(.*?)<\/a>/gu, '$1');
}

/** Of a served page: only its own style, its own script, and news from its origin. */
export const POLICY = policyOf([
  `style-src '${sourceOf(STYLE)}'`,
  `script-src '${sourceOf(SCRIPT)}'`,
  "connect-src 'self'",
]);

const FILE_POLICY = `default-src 'none'; style-src '${sourceOf(STYLE)}'; base-uri 'none'; form-action 'none'`;

/** The policy of a page that consists of a document with this style alone. */
export function policyForStyle(style: string): string {
  return policyOf([`style-src '${sourceOf(style)}'`]);
}

function policyOf(allowed: readonly string[]): string {
  return [
    "default-src 'none'",
    ...allowed,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

/** In place of a page while the record cannot be read. It loads itself again. */
export const UNREADABLE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="20">
<title>The record cannot be read now</title>
</head>
<body>
<h1>The record cannot be read now</h1>
<p>What you saw before may have changed since. This page tries again every 20 seconds.</p>
<p>It says nothing about the recovery itself. Whoever runs the page finds the reason in its log.</p>
</body>
</html>
`;
