import { createHash, randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { streamDownload } from '../../src/activities/stream-download.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { untrust } from '../../src/base/text.ts';
import type { Download } from '../../src/service/client.ts';

const BYTES = Buffer.concat([Buffer.from('Salted__'), randomBytes(99_992)]);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

test('a download that breaks off continues in the stream, under a strong tag', async () => {
  const { open, asked } = serve([40_000, 0, 30_000]);
  const to = new PassThrough();
  const [written, saved] = await Promise.all([buffer(to), run(open, to).finally(() => to.end())]);
  expect(written.equals(BYTES)).toBe(true);
  expect(saved).toMatchObject({ sha256: SHA256, requests: 4, checked: { verdict: 'whole' } });
  expect(asked).toEqual([
    { offset: 0 },
    { offset: 40_000, ifRange: '"one"' },
    { offset: 40_000, ifRange: '"one"' },
    { offset: 70_000, ifRange: '"one"' },
  ]);
});

test.each([
  ['without a tag', { etag: undefined }],
  ['without ranges', { acceptsRanges: false }],
])('a download that breaks off %s cannot continue, and is reported as incomplete', async (_, overrides) => {
  const { open, asked } = serve([40_000], overrides);
  await expect(run(open, new PassThrough().resume())).rejects.toMatchObject({
    code: 'service.reset',
    hints: expect.arrayContaining([expect.stringContaining('not a whole backup')]),
    evidence: { bytes: 40_000 },
  });
  expect(asked).toHaveLength(1);
});

test('a file that has changed at the service is not appended to the old one', async () => {
  const { open } = serve([40_000]);
  const changed = async (from: { offset: number }) => ({ ...(await open(from)), offset: 0 });
  const to = new PassThrough();
  const [written] = await Promise.all([
    buffer(to),
    expect(run(changed, to).finally(() => to.end())).rejects.toMatchObject({ code: 'backup.cut' }),
  ]);
  expect(written.equals(BYTES.subarray(0, 40_000))).toBe(true);
});

test('a download that broke off before its first byte is requested again', async () => {
  const { open, asked } = serve([0, 0]);
  expect(await run(open, new PassThrough().resume())).toMatchObject({ sha256: SHA256 });
  expect(asked).toEqual([{ offset: 0 }, { offset: 0 }, { offset: 0 }]);
});

test('an error of the service is reported with its status and the number of requests', async () => {
  const said = 'the router got no proper answer from the service (502)';
  const open = () => Promise.reject(new LifeboatError('service.error', said, { evidence: { status: 502 } }));
  await expect(run(open, new PassThrough())).rejects.toMatchObject({
    code: 'service.error',
    shortMessage: said,
    hints: ['it was asked for 4 times, and never began'],
  });
});

test('a reader that goes away ends it', async () => {
  const to = new Writable({ write: (_, __, done) => done(new Error('EPIPE')) }).on('error', () => undefined);
  await expect(run(serve([]).open, to)).rejects.toMatchObject({ code: 'download.write' });
});

/** How many bytes each request gets before it breaks off; later requests are whole. */
function serve(breaks: readonly number[], overrides: Partial<Download> = {}) {
  const asked: { offset: number; ifRange?: string }[] = [];
  const open = async (from: { offset: number; ifRange?: string }): Promise<Download> => {
    asked.push(from);
    const most = breaks[asked.length - 1];
    const rest = BYTES.subarray(from.offset, most === undefined ? undefined : from.offset + most);
    const chunks = async function* () {
      if (rest.length > 0) yield rest;
      if (most !== undefined) throw new LifeboatError('service.reset', 'the connection broke');
    };
    return {
      stream: Readable.from(chunks()),
      offset: from.offset,
      length: BYTES.length - from.offset,
      total: BYTES.length,
      framed: true,
      acceptsRanges: true,
      etag: untrust('"one"'),
      marks: {},
      serverDate: undefined,
      ...overrides,
    };
  };
  return { open, asked };
}

function run(open: Parameters<typeof streamDownload>[0]['open'], to: NodeJS.WritableStream) {
  const { signal } = new AbortController();
  return streamDownload({ open, to, listed: BYTES.length, report: () => undefined, signal, firstPauseMs: 1 });
}
