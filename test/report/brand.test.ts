import { expect, test } from 'vitest';
import { LARGEST_LOGO, logoOf } from '../../src/report/brand.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import { readHtml } from './html-words.ts';
import { recovery } from './recovery.ts';

const report = buildReport(recovery, { generatedAt: new Date('2026-03-02T00:00:00Z') });
const svg = (inside: string, head = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"${head}>${inside}</svg>`);
const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(64);
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
const drawing = `<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>
  <style>.a { fill: #123456 }</style><path class="a" d="M0 0h1v1z" fill="url(#g)"/><use href="#g"/>`;

test.each([
  ['a PNG', png(200, 50), 'image/png'],
  ['an SVG', svg(drawing), 'image/svg+xml'],
  [
    'an SVG as programs write it',
    Buffer.from(`\ufeff<?xml version="1.0"?>\n<!-- x -->\n${svg(drawing)}\n`),
    'image/svg+xml',
  ],
])('%s heads the report as it is, in a page that loads no other image', (_what, bytes, type) => {
  const logo = logoOf(bytes);
  expect(logo).toEqual({ type, base64: bytes.toString('base64') });
  const { elements } = readHtml(renderReport(report, 'html', { name: 'ACME & <Co>', logo }));
  const images = elements.filter(({ name }) => name === 'img');
  expect(images.map(({ attributes }) => attributes.get('src'))).toEqual([
    `data:${type};base64,${logo.base64}`,
  ]);
  const policy = elements.find(({ attributes }) => attributes.has('http-equiv'))?.attributes.get('content');
  expect(policy).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:");
});

test('a name heads every form for people, cannot act there, and is no part of the record', () => {
  const brand = { name: 'ACME & <b>Co</b>' };
  expect(readHtml(renderReport(report, 'html', brand)).text).toContain('ACME & <b>Co</b>: Lifeboat report');
  expect(renderReport(report, 'md', brand)).toMatch(
    /^# ACME &amp; &lt;b&gt;Co&lt;\/b&gt;: restore-backup on orders\n/u,
  );
  expect(renderReport(report, 'json', brand)).toBe(renderReport(report, 'json'));
});

test.each([
  ['a script', svg('<script>alert(1)</script>'), 'it has the element script'],
  ['foreign markup', svg('<foreignObject><p/></foreignObject>'), 'it has the element foreignObject'],
  ['an image of its own', svg('<image href="data:image/png;base64,AAAA"/>'), 'it has the element image'],
  ['an animation', svg('<set attributeName="href" to="javascript:x"/>'), 'it has the element set'],
  ['a link', svg('<a href="https://example.com"><path/></a>'), 'it has the element a'],
  ['a handler', svg('', ' onload="x()"'), 'it has the attribute onload'],
  ['a handler in capitals', svg("<g ONCLICK='x()'/>"), 'it has the attribute ONCLICK'],
  ['a reference', svg('<use xlink:href="https://example.com/a.svg#b"/>'), 'it refers to something outside'],
  ['a base', svg('<g xml:base="https://example.com/"/>'), 'it refers to something outside'],
  [
    'a paint from elsewhere',
    svg('<path fill="url(https://example.com/a)"/>'),
    'it refers to something outside',
  ],
  ['an import', svg('<style>@import "https://example.com/a.css";</style>'), 'it refers to something outside'],
  ['a hidden import', svg('<style>@\\69mport "a"</style>'), 'it refers to something outside'],
  ['a hidden address', svg('<path fill="&#117;rl(https://example.com)"/>'), 'it refers to something outside'],
  ['entities', Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'), 'it is neither a PNG nor an SVG'],
  ['a style sheet', Buffer.from('<?xml-stylesheet href="a"?><svg/>'), 'it is neither a PNG nor an SVG'],
  ['CDATA', svg('<style><![CDATA[@import "a"]]></style>'), 'it cannot be read after character'],
  ['an attribute without quotes', svg('<g onload=x() />'), 'it cannot be read after character'],
  ['a page', Buffer.from('<html><svg></svg></html>'), 'it is neither a PNG nor an SVG'],
  ['a GIF', Buffer.from('GIF89a'), 'it is neither a PNG nor an SVG'],
  ['nothing', Buffer.alloc(0), 'it is neither a PNG nor an SVG'],
  ['a huge PNG', png(50_000, 50_000), 'its sides are not between 1 and 4096 pixels'],
  ['a PNG that is cut', png(1, 1).subarray(0, 18), 'its sides are not between 1 and 4096 pixels'],
  ['a large file', Buffer.alloc(LARGEST_LOGO + 1), 'it is larger than 256 KiB'],
])('%s is no logo', (_what, bytes, why) => {
  expect(() => logoOf(bytes)).toThrow(why);
});
