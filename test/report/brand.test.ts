import { crc32, deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { LARGEST_LOGO, logoOf } from '../../src/report/brand.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import { readHtml } from './html-words.ts';
import { recovery } from './recovery.ts';

const report = buildReport(recovery, { generatedAt: new Date('2026-03-02T00:00:00Z') });
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h1v1z"/></svg>');

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

test('a PNG is shown unchanged at the head of the report, in a page that loads no other image', () => {
  const logo = logoOf(WHOLE);
  expect(logo).toEqual({ base64: WHOLE.toString('base64') });
  const { elements } = readHtml(renderReport(report, 'html', { name: 'ACME & <Co>', logo }));
  const images = elements.filter(({ name }) => name === 'img');
  expect(images.map(({ attributes }) => attributes.get('src'))).toEqual([
    `data:image/png;base64,${logo.base64}`,
  ]);
  const policy = elements.find(({ attributes }) => attributes.has('http-equiv'))?.attributes.get('content');
  expect(policy).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:");
});

test('a name is shown at the head of every form for people, is harmless there, and is not part of the record', () => {
  const brand = { name: 'ACME & <b>Co</b>' };
  expect(readHtml(renderReport(report, 'html', brand)).text).toContain('ACME & <b>Co</b>: Lifeboat report');
  expect(renderReport(report, 'md', brand)).toMatch(
    /^# ACME &amp; &lt;b&gt;Co&lt;\/b&gt;: restore-backup on orders \(LIVE, run 01R\)\n/u,
  );
  expect(renderReport(report, 'json', brand)).toBe(renderReport(report, 'json'));
});

test.each([
  ['an SVG', SVG, 'it is not a PNG'],
  ['a page', Buffer.from('<html><svg></svg></html>'), 'it is not a PNG'],
  ['a GIF', Buffer.from('GIF89a'), 'it is not a PNG'],
  ['nothing', Buffer.alloc(0), 'it is not a PNG'],
  ['a huge PNG', png(header(50_000, 50_000), PICTURE, END), 'its sides are not between 1 and 4096 pixels'],
  ['a PNG that is cut off', WHOLE.subarray(0, -3), 'it is a PNG that is cut off'],
  ['a PNG with garbage', png(header(1, 1), Buffer.alloc(99, 7)), 'it is a PNG that is cut off'],
  ['a PNG that was changed', DAMAGED, 'it is a PNG that is damaged at byte 33'],
  ['a PNG without a picture', png(header(1, 1), END), 'it is a PNG without a picture'],
  ['a PNG without a header', png(PICTURE, END), 'it is a PNG without a header'],
  ['a PNG with extra bytes after its end', Buffer.concat([WHOLE, SVG]), 'or with more behind it'],
  ['a large file', Buffer.alloc(LARGEST_LOGO + 1), 'it is larger than 256 KiB'],
])('%s is not accepted as a logo', (_what, bytes, why) => {
  expect(() => logoOf(bytes)).toThrow(why);
});
