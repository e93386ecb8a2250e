import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LARGEST_LOGO, logoOf } from '../../src/report/brand.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import { readHtml } from './html-words.ts';
import { recovery } from './recovery.ts';

const report = buildReport(recovery, { generatedAt: new Date('2026-03-02T00:00:00Z') });
const svg = (inside: string, head = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"${head}>${inside}</svg>`);
const drawing = `<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>
  <style>.a { fill: #123456 }</style><path class="a" d="M0 0h1v1z" fill="url(#g)"/><use href="#g"/>`;

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  bytes.writeUInt32BE(data.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

function header(width: number, height: number): Buffer {
  const data = Buffer.from('00000000000000000800000000', 'hex');
  data.writeUInt32BE(width);
  data.writeUInt32BE(height, 4);
  return chunk('IHDR', data);
}

const png = (...chunks: readonly Buffer[]) =>
  Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
const PICTURE = chunk('IDAT', deflateSync(Buffer.alloc(2)));
const END = chunk('IEND', Buffer.alloc(0));
const WHOLE = png(header(1, 1), PICTURE, END);
/** The same with one byte of the picture changed. */
const DAMAGED = Buffer.from(WHOLE).fill(0x55, WHOLE.length - 20, WHOLE.length - 19);

test.each([
  ['a PNG', WHOLE, 'image/png'],
  ['an SVG', svg(drawing), 'image/svg+xml'],
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

const DTD = '"-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"';
const EDITOR = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE svg PUBLIC ${DTD}>
<!-- Created with an editor & its friends -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:svg="http://www.w3.org/2000/svg"
  xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
  viewBox="0 0 9 9" inkscape:version="1.3 (0e150ed6c4)" role="img" aria-label="A logo (white)">
  <sodipodi:namedview pagecolor="#fff"><inkscape:grid type="xygrid" /></sodipodi:namedview>
  <metadata><rdf:RDF><cc:Work rdf:about=""><dc:format>image/svg+xml &#169;</dc:format></cc:Work></rdf:RDF></metadata>
  <style type="text/css"><![CDATA[.b > path { fill: rgb(1, 2, 3) }]]></style>
  <g inkscape:label="Layer (1)" style="fill:url(&quot;#g&quot;)" transform="translate(1 2)"><use xlink:href="#g"/></g>
</svg>
`;

test('of an SVG as editors write it, what draws is kept, and nothing else', () => {
  const { base64 } = logoOf(Buffer.from(`\ufeff${EDITOR}`));
  expect(Buffer.from(base64, 'base64').toString('utf8').split(/\n\s*/u)).toEqual([
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">',
    '<style type="text/css"><![CDATA[.b > path { fill: rgb(1, 2, 3) }]]></style>',
    '<g style="fill:url(&quot;#g&quot;)" transform="translate(1 2)"><use href="#g"/></g>',
    '</svg>',
  ]);
});

test('a long word in a style is read in one go', () => {
  const bytes = svg(`<style>${'a'.repeat(250_000)}</style>`);
  expect(logoOf(bytes).base64).toBe(bytes.toString('base64'));
});

test('a name heads every form for people, cannot act there, and is no part of the record', () => {
  const brand = { name: 'ACME & <b>Co</b>' };
  expect(readHtml(renderReport(report, 'html', brand)).text).toContain('ACME & <b>Co</b>: Lifeboat report');
  expect(renderReport(report, 'md', brand)).toMatch(
    /^# ACME &amp; &lt;b&gt;Co&lt;\/b&gt;: restore-backup on orders \(LIVE, run 01R\)\n/u,
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
  ['a base', svg('<g xml:base="https://example.com/"/>'), 'it has the attribute xml:base'],
  [
    'a paint from elsewhere',
    svg('<path fill="url(https://example.com/a)"/>'),
    'it refers to something outside',
  ],
  ['an import', svg('<style>@import "https://example.com/a.css";</style>'), 'it refers to something outside'],
  ['a hidden import', svg('<style>@\\69mport "a"</style>'), 'it refers to something outside'],
  ['a hidden address', svg('<path fill="&#117;rl(https://example.com)"/>'), 'it refers to something outside'],
  ['an image set', svg('<style>a{fill:image-set("http://x" 1x)}</style>'), 'it refers to something outside'],
  ['an image in words', svg('<g style="fill:image(\'http://x\')"/>'), 'it refers to something outside'],
  [
    'a divided address',
    svg('<style>a{fill:url<!-- -->(http://x)}</style>'),
    'it refers to something outside of itself',
  ],
  ['an import as data', svg('<style><![CDATA[@import "a"]]></style>'), 'it refers to something outside'],
  ['an attribute that nobody knows', svg('<g formaction="x"/>'), 'it has the attribute formaction'],
  ['another name space', svg('<g xmlns="http://www.w3.org/1999/xhtml"/>'), 'its xmlns is not that of SVG'],
  ['no name space', Buffer.from('<svg><g/></svg>'), 'its xmlns is not that of SVG'],
  [
    'a script by another name',
    svg('<s:script>alert(1)</s:script>', ' xmlns:s="http://www.w3.org/2000/svg"'),
    'it has the element s:script',
  ],
  ['entities', Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg/>'), 'its DOCTYPE declares something'],
  ['a style sheet', Buffer.from('<?xml-stylesheet href="a"?><svg/>'), 'it is neither a PNG nor an SVG'],
  ['an attribute without quotes', svg('<g onload=x() />'), 'it cannot be read after character'],
  ['an attribute that is there twice', svg('<g x="1" x="2"/>'), 'it cannot be read after character'],
  ['an element that is not closed', svg('<g><rect>'), 'it cannot be read after character'],
  ['an element that is closed by another', svg('<g><rect></g></rect>'), 'it cannot be read after character'],
  ['a second root', Buffer.concat([svg(''), svg('')]), 'it cannot be read after character'],
  ['an unknown entity', svg('<text>&nbsp;</text>'), 'it cannot be read after character'],
  ['a control character', svg('<text>\u0001</text>'), 'it cannot be read after character'],
  ['another encoding', Buffer.from('<svg>\xe9</svg>', 'latin1'), 'it is neither a PNG nor an SVG'],
  ['a page', Buffer.from('<html><svg></svg></html>'), 'it is neither a PNG nor an SVG'],
  ['a GIF', Buffer.from('GIF89a'), 'it is neither a PNG nor an SVG'],
  ['nothing', Buffer.alloc(0), 'it is neither a PNG nor an SVG'],
  ['a huge PNG', png(header(50_000, 50_000), PICTURE, END), 'its sides are not between 1 and 4096 pixels'],
  ['a PNG that is cut off', WHOLE.subarray(0, -3), 'it is a PNG that is cut off'],
  ['a PNG with garbage', png(header(1, 1), Buffer.alloc(99, 7)), 'it is a PNG that is cut off'],
  ['a PNG that was changed', DAMAGED, 'it is a PNG that is damaged at byte 33'],
  ['a PNG without a picture', png(header(1, 1), END), 'it is a PNG without a picture'],
  ['a PNG without a header', png(PICTURE, END), 'it is a PNG without a header'],
  ['a PNG with more behind it', Buffer.concat([WHOLE, svg('')]), 'or with more behind it'],
  ['a large file', Buffer.alloc(LARGEST_LOGO + 1), 'it is larger than 256 KiB'],
])('%s is no logo', (_what, bytes, why) => {
  expect(() => logoOf(bytes)).toThrow(why);
});
