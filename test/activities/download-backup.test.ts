import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityContext } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { downloadBackup } from '../../src/activities/download-backup.ts';
import type { Download } from '../../src/service/client.ts';

const BYTES = Buffer.concat([Buffer.from('Salted__'), randomBytes(199_992)]);

test('a complete download has the same bytes, under its final name, and its SHA-256', async () => {
  const { run, folder } = await makeActivity({ length: BYTES.length });
  const result = await run({ id: 7, size: BYTES.length, purpose: 'archive' });
  if (!result.ok) throw new Error(result.failure.shortMessage);
  expect((await readFile(result.output.path)).equals(BYTES)).toBe(true);
  expect(result.output.sha256).toBe(createHash('sha256').update(BYTES).digest('hex'));
  expect(await readdir(folder)).toHaveLength(1);
});

test('a listed size that differs from the length of the file does not make the download fail', async () => {
  for (const size of [BYTES.length * 3, 10]) {
    const { run } = await makeActivity({ length: undefined });
    expect(await run({ id: 7, size, purpose: 'archive' })).toMatchObject({
      ok: true,
      output: { verdict: 'other-size', listed: size },
    });
  }
});

test('a download that ends before its announced length is truncated, and nothing of it stays', async () => {
  const { run, folder } = await makeActivity({ length: BYTES.length + 1 });
  const result = await run({ id: 7, purpose: 'archive' });
  expect(result).toMatchObject({ ok: false, failure: { code: 'backup.truncated' } });
  expect(await readdir(folder)).toEqual([]);
});

test('a download does not begin without enough room', async () => {
  const { run, folder } = await makeActivity({ length: BYTES.length });
  const result = await run({ id: 7, size: 2 ** 60, purpose: 'archive' });
  expect(result).toMatchObject({ ok: false, failure: { code: 'disk.full' } });
  expect(await readdir(folder)).toEqual([]);
});

async function makeActivity({ length }: Pick<Download, 'length'>) {
  const folder = await mkdtemp(join(tmpdir(), 'lifeboat-download-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const download = async () => ({
    stream: Readable.from([BYTES.subarray(0, 70_000), BYTES.subarray(70_000)]),
    offset: 0,
    length,
    framed: true,
    acceptsRanges: false,
  });
  const activity = downloadBackup({ folder, service: { download } } as unknown as ActivityDeps);
  const context: ActivityContext = {
    runId: 'R',
    instance: 'orders',
    signal: new AbortController().signal,
    now: () => new Date(),
    report: () => undefined,
  };
  return { folder, run: (input: Parameters<typeof activity.run>[0]) => activity.run(input, context) };
}
