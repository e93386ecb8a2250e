import { createHash, randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mostBytes } from '../../src/activities/check-download.ts';
import { saveDownload } from '../../src/activities/download-backup.ts';
import { KEPT_FREE } from '../../src/activities/free-space.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { formatBytes } from '../../src/base/format.ts';
import { untrust } from '../../src/base/text.ts';
import type { Download } from '../../src/service/client.ts';

/** Shaped like a backup: a header, a salt, and whole blocks. */
const BYTES = Buffer.concat([Buffer.from('Salted__'), randomBytes(299_992)]);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

describe('a download', () => {
  test('that breaks off continues where it ended, as often as needed', async () => {
    const server = serve({ breaks: [100_000, 50_000, 100_000] });
    const { path, save } = await makeTarget();
    expect(await save(server.open)).toEqual({
      bytes: BYTES.length,
      sha256: SHA256,
      requests: 4,
      checked: { verdict: 'whole', beginning: 'encrypted', announced: BYTES.length },
    });
    expect(server.offsets).toEqual([0, 100_000, 150_000, 250_000]);
    expect((await readFile(path)).equals(BYTES)).toBe(true);
  });

  test('whose process died is continued by the next one', async () => {
    const first = serve({ breaks: [120_000], fatal: true });
    const { path, save, folder } = await makeTarget();
    await expect(save(first.open)).rejects.toMatchObject({ code: 'service.forbidden' });
    // What a dying process wrote after its last note may be incomplete.
    await appendFile(`${path}.part`, 'half a chunk');
    const second = serve();
    expect(await save(second.open)).toMatchObject({ sha256: SHA256, requests: 1 });
    expect(second.offsets).toEqual([120_000]);
    expect(await readdir(folder)).toEqual(['file']);
  });

  test('of something else is restarted', async () => {
    const { path, save } = await makeTarget();
    await expect(save(serve({ breaks: [120_000], fatal: true }).open, 'backup 6')).rejects.toThrow();
    const server = serve();
    await save(server.open, 'backup 7');
    expect(server.offsets).toEqual([0]);
    expect((await readFile(path)).equals(BYTES)).toBe(true);
  });

  test('whose file has changed at the service is restarted', async () => {
    const { save, path } = await makeTarget();
    await expect(save(serve({ breaks: [120_000], fatal: true, etag: '"old"' }).open)).rejects.toThrow();
    const server = serve({ etag: '"new"' });
    expect(await save(server.open)).toMatchObject({ sha256: SHA256 });
    expect((await readFile(path)).equals(BYTES)).toBe(true);
  });

  test('that the service does not continue is restarted', async () => {
    const { save } = await makeTarget();
    await expect(save(serve({ breaks: [120_000], fatal: true }).open)).rejects.toThrow();
    const server = serve({ refusesOffsets: true });
    expect(await save(server.open)).toMatchObject({ sha256: SHA256 });
    expect(server.offsets).toEqual([120_000, 0]);
  });

  test('with old leftovers that no longer fit restarts, and still continues where it breaks off itself', async () => {
    const { save } = await makeTarget();
    await expect(save(serve({ breaks: [120_000], fatal: true }).open)).rejects.toThrow();
    const old = serve({ refusesOffsets: true });
    const now = serve({ breaks: [100_000] });
    const open: typeof now.open = (from) => (old.offsets.length === 0 ? old : now).open(from);
    expect(await save(open)).toMatchObject({ sha256: SHA256 });
    expect([old.offsets, now.offsets]).toEqual([[120_000], [0, 100_000]]);
  });

  test('that only lacked its final name is not requested again', async () => {
    const { path, save } = await makeTarget();
    await writeFile(`${path}.part`, BYTES);
    const note = { of: 'backup 7', size: BYTES.length, total: BYTES.length, resumable: true };
    await writeFile(`${path}.part.json`, JSON.stringify(note));
    const server = serve();
    expect(await save(server.open)).toMatchObject({ sha256: SHA256 });
    expect(server.offsets).toEqual([]);
  });

  test('that breaks off soon without ranges is restarted', async () => {
    const { save } = await makeTarget();
    const server = serve({ breaks: [120_000, 0, 120_000], ranges: false });
    expect(await save(server.open)).toMatchObject({ sha256: SHA256, requests: 4 });
    expect(server.offsets).toEqual([0, 0, 0, 0]);
  });

  test('that breaks off again and again without ranges is abandoned, and leaves nothing', async () => {
    const { save, folder } = await makeTarget();
    const server = serve({ breaks: [120_000, 120_000, 120_000, 120_000], ranges: false });
    await expect(save(server.open)).rejects.toMatchObject({ code: 'backup.cut' });
    expect(server.offsets).toHaveLength(4);
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([500, 502, 504])(
    'answered with %s reports the status, the words and the number of requests',
    async (status) => {
      const { save, folder } = await makeTarget();
      const said = `the service met an error (${status}): "no agent answers"`;
      const open = () =>
        Promise.reject(new LifeboatError('service.error', said, { evidence: { status, requests: 6 } }));
      await expect(save(open)).rejects.toMatchObject({
        code: 'service.error',
        shortMessage: said,
        hints: ['it was asked for 24 times, and never began'],
        evidence: { status, requests: 24 },
      });
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('that breaks off late without ranges is not restarted: it would be cut again', async () => {
    const { path, folder } = await makeTarget();
    const server = serve({ breaks: [120_000], ranges: false });
    const saving = saveDownload({ ...options(path), open: server.open, anewWithinMs: 0 });
    await expect(saving).rejects.toMatchObject({ code: 'backup.cut' });
    expect(server.offsets).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  test('that brings nothing four times in a row is abandoned, and what has arrived is kept', async () => {
    const { save, folder } = await makeTarget();
    const server = serve({ breaks: [120_000, 0, 0, 0, 0] });
    await expect(save(server.open)).rejects.toMatchObject({ code: 'service.reset' });
    expect(await readdir(folder)).toEqual(['file.part', 'file.part.json']);
    expect(await save(serve().open)).toMatchObject({ sha256: SHA256 });
  });

  test('whose offsets are refused although they were promised is abandoned after four attempts too', async () => {
    const { save, folder } = await makeTarget();
    const server = serve({ breaks: Array<number>(20).fill(120_000), refusesOffsets: true });
    await expect(save(server.open)).rejects.toMatchObject({ code: 'backup.cut' });
    expect(server.offsets).toEqual([0, 120_000, 0, 0, 0, 0]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('loses nothing that arrived before the connection broke, however late it is read', async () => {
    const { path, save } = await makeTarget();
    const offsets: number[] = [];
    const open = async ({ offset }: { offset: number }): Promise<Download> => {
      offsets.push(offset);
      const stream = new Readable({ read: () => undefined });
      stream.push(BYTES.subarray(offset, offset + 50_000));
      setImmediate(() => stream.destroy(new LifeboatError('service.reset', 'the connection broke')));
      return { ...(await serve().open({ offset })), stream };
    };
    expect(await save(open)).toMatchObject({ sha256: SHA256 });
    expect(offsets).toEqual([0, 50_000, 100_000, 150_000, 200_000, 250_000]);
    expect((await readFile(path)).equals(BYTES)).toBe(true);
  });

  test('whose file has another length than its first part announced is restarted', async () => {
    const { save, path } = await makeTarget();
    await expect(save(serve({ breaks: [120_000], fatal: true }).open)).rejects.toThrow();
    const now = serve();
    const open: typeof now.open = async (from) => {
      const download = await now.open(from);
      return from.offset > 0 ? { ...download, total: BYTES.length + 16 } : download;
    };
    expect(await save(open)).toMatchObject({ sha256: SHA256 });
    expect(now.offsets).toEqual([120_000, 0]);
    expect((await readFile(path)).equals(BYTES)).toBe(true);
  });

  test.each([
    [
      'its time',
      { modified: 'Mon, 05 Jan 2026 00:00:00 GMT' },
      { modified: 'Tue, 06 Jan 2026 00:00:00 GMT' },
    ],
    ['its weak tag', { etag: 'W/"one"' }, { etag: 'W/"two"' }],
  ])('without a strong tag that changes %s in between is restarted', async (_, first, then) => {
    const { save } = await makeTarget();
    const marked = (marks: Readonly<Record<string, string>>, server: ReturnType<typeof serve>) => {
      const open: typeof server.open = async (from) => ({
        ...(await server.open({ offset: from.offset })),
        etag: undefined,
        marks: marks as Download['marks'],
      });
      return open;
    };
    await expect(save(marked(first, serve({ breaks: [120_000], fatal: true })))).rejects.toThrow();
    const server = serve();
    expect(await save(marked(then, server))).toMatchObject({ sha256: SHA256 });
    expect(server.offsets).toEqual([120_000, 0]);
    const same = serve({ breaks: [120_000] });
    await save(marked(first, same), 'backup 8');
    expect(same.offsets).toEqual([0, 120_000]);
  });

  test('whose later part does not give the length of the file ends at the length that the first part gave', async () => {
    const { save } = await makeTarget();
    const server = serve({ breaks: [120_000, 50_000] });
    const open: typeof server.open = async (from) => {
      const download = await server.open(from);
      return from.offset > 0 ? { ...download, total: undefined, length: 50_000 } : download;
    };
    expect(await save(open)).toMatchObject({ sha256: SHA256, requests: 3 });
  });

  test('that is refused in the middle keeps what has arrived', async () => {
    const { save, folder } = await makeTarget();
    const server = serve({ breaks: [120_000] });
    const open: typeof server.open = async (from) => {
      if (from.offset === 0) return server.open(from);
      throw new LifeboatError('service.bad-answer', 'a web page', { evidence: { download: 'refused' } });
    };
    await expect(save(open)).rejects.toMatchObject({ code: 'service.bad-answer' });
    expect(await readdir(folder)).toEqual(['file.part', 'file.part.json']);
  });

  test('that never ends is stopped at its limit, and is not restarted', async () => {
    const { folder, path } = await makeTarget();
    let given = 0;
    const block = Buffer.concat([BYTES, BYTES, BYTES, BYTES]);
    const endless = async function* () {
      for (;;) {
        given += block.length;
        yield block;
      }
    };
    const open = async (): Promise<Download> => ({
      ...(await serve().open({ offset: 0 })),
      stream: Readable.from(endless()),
      total: undefined,
      length: undefined,
    });
    const saving = saveDownload({ ...options(path), open, listed: 1_600 });
    await expect(saving).rejects.toMatchObject({ code: 'backup.too-long', evidence: { listed: 1_600 } });
    expect(given).toBeLessThan(mostBytes(1_600) + 8 * block.length);
    expect(await readdir(folder)).toEqual([]);
  });

  test('without enough room says how much must stay free, and does not begin', async () => {
    const { path, folder } = await makeTarget();
    const server = serve();
    const saving = saveDownload({ ...options(path), open: server.open, listed: 2 ** 60 });
    await expect(saving).rejects.toMatchObject({
      code: 'disk.full',
      shortMessage: expect.stringMatching(/^the backup needs .*, and .* has .* free$/),
      hints: expect.arrayContaining([expect.stringContaining(`${formatBytes(KEPT_FREE)} stay free`)]),
    });
    expect(server.offsets).toEqual([]);
    const announced = async () => ({ ...(await serve().open({ offset: 0 })), total: 2 ** 60 });
    await expect(saveDownload({ ...options(path), open: announced })).rejects.toMatchObject({
      code: 'disk.full',
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('that cannot be written says why', async () => {
    const { path, folder } = await makeTarget();
    await mkdir(`${path}.part`);
    const saving = saveDownload({ ...options(join(folder, 'nowhere', 'file')), open: serve().open });
    await expect(saving).rejects.toMatchObject({ code: 'download.write' });
    await expect(saveDownload({ ...options(path), open: serve().open })).rejects.toMatchObject({
      shortMessage: `${path} cannot be written: it is a folder`,
    });
  });
});

interface ServeOptions {
  /** How many bytes each request gets before it breaks off; later requests are whole. */
  readonly breaks?: readonly number[];
  /** The request after a break is refused. */
  readonly fatal?: boolean;
  readonly ranges?: boolean;
  readonly etag?: string;
  readonly refusesOffsets?: boolean;
}

/** How a service returns the file, and at which offsets it was requested. */
function serve({ breaks = [], fatal, ranges = true, etag = '"one"', refusesOffsets }: ServeOptions = {}) {
  const offsets: number[] = [];
  const open = async ({ offset, ifRange }: { offset: number; ifRange?: string }): Promise<Download> => {
    if (fatal && offsets.length >= breaks.length) throw new LifeboatError('service.forbidden', 'no right');
    offsets.push(offset);
    if (refusesOffsets && offset > 0) {
      throw new LifeboatError('service.bad-answer', 'not from there', { evidence: { download: 'offset' } });
    }
    const from = ifRange === undefined || ifRange === etag ? offset : 0;
    const end = breaks[offsets.length - 1];
    return {
      stream: Readable.from(chunks(from, end)),
      offset: from,
      length: BYTES.length - from,
      total: BYTES.length,
      framed: true,
      acceptsRanges: ranges,
      etag: untrust(etag),
      marks: { etag: untrust(etag) },
      serverDate: undefined,
    };
  };
  return { offsets, open };
}

async function* chunks(from: number, most: number | undefined): AsyncGenerator<Buffer> {
  const end = most === undefined ? BYTES.length : Math.min(BYTES.length, from + most);
  for (let at = from; at < end; at += 40_000) yield BYTES.subarray(at, Math.min(end, at + 40_000));
  if (most !== undefined) throw new LifeboatError('service.reset', 'the connection broke');
}

async function makeTarget() {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-save-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'file');
  const save = (open: ReturnType<typeof serve>['open'], of = 'backup 7') =>
    saveDownload({ ...options(path), of, open });
  return { folder, path, save };
}

function options(path: string) {
  return {
    path,
    of: 'backup 7',
    listed: undefined,
    report: () => undefined,
    signal: new AbortController().signal,
    firstPauseMs: 1,
  };
}
