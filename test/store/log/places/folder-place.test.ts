import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderPlace, homePlace, pathOfSize } from '../../../../src/store/log/places/folder-place.ts';
import type { Place } from '../../../../src/store/log/places/place.ts';
import { freshSigner } from '../../fresh-signer.ts';
import { temporaryHome } from '../../temporary-home.ts';
import { armedCall, noteOf, ORIGIN } from './notes.ts';

const sizesIn = async (place: Place) => (await Array.fromAsync(place.all(ORIGIN))).map(({ size }) => size);

test('the checkpoint of a size lies below three folders, none with more than a thousand names', () => {
  expect([67, 1_000, 1_234_067, 7_000_000_001].map(pathOfSize)).toEqual([
    'x000/x000/067',
    'x000/x001/000',
    'x001/x234/067',
    'x7000/x000/001',
  ]);
});

test('checkpoints come back newest first, whatever their sizes, with the key beside them', async () => {
  const signer = freshSigner();
  const sizes = fc.uniqueArray(fc.integer({ min: 1, max: 3_000_000_000 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const home = mkdtempSync(join(tmpdir(), 'lifeboat-places-'));
      const place = homePlace(home);
      for (const size of all)
        expect(await place.write(noteOf(signer, size), signer)).toEqual({ result: 'written' });
      expect(await sizesIn(place)).toEqual(all.toSorted((one, other) => other - one));
      const look = await place.look({ origin: ORIGIN, beyond: Number.POSITIVE_INFINITY, most: 2 });
      expect(look).toMatchObject({ result: 'read', origins: [ORIGIN] });
      const key = readFileSync(join(home, 'checkpoints', `lifeboat-${signer.installation}.pub`), 'utf8');
      expect(key).toBe(signer.publicKey);
      rmSync(home, { recursive: true });
    }),
    { numRuns: 15 },
  );
});

test('a look returns every larger checkpoint, and only as many of the others as requested', async () => {
  const [signer, place] = [freshSigner(), homePlace(temporaryHome())];
  for (const size of [1, 2, 3, 4, 5, 6]) await place.write(noteOf(signer, size), signer);
  const look = await place.look({ origin: ORIGIN, beyond: 4, most: 2 });
  expect(look.result === 'read' && look.notes.map(({ size }) => size)).toEqual([6, 5, 4, 3]);
});

test('writing the same checkpoint again succeeds', async () => {
  const [signer, place] = [freshSigner(), homePlace(temporaryHome())];
  const note = noteOf(signer, 5);
  for (const _ of [1, 2]) expect(await place.write(note, signer)).toEqual({ result: 'written' });
  expect(await sizesIn(place)).toEqual([5]);
});

test('a checkpoint of the same size with other armed calls is kept beside the first, so that no armed call is lost', async () => {
  const [signer, home] = [freshSigner(), temporaryHome()];
  const place = homePlace(home);
  const [first, second] = [[armedCall('a')], [armedCall('a'), armedCall('b')]].map((armed) =>
    noteOf(signer, 5, 'one', armed),
  );
  for (const note of [first, second, second])
    expect(await place.write(note ?? '', signer)).toEqual({ result: 'written' });
  const notes = await Array.fromAsync(place.all(ORIGIN));
  expect(new Set(notes.map(({ note }) => note))).toEqual(new Set([first, second]));
});

test('a checkpoint of another history is a conflict, and the first one stays unchanged', async () => {
  const [signer, home] = [freshSigner(), temporaryHome()];
  const place = homePlace(home);
  await place.write(noteOf(signer, 5), signer);
  const file = join(home, 'checkpoints', ORIGIN.slice(9), pathOfSize(5));
  const before = readFileSync(file, 'utf8');
  const written = await place.write(noteOf(signer, 5, 'another'), signer);
  expect(written).toMatchObject({ result: 'conflict', others: [{ size: 5, note: before }] });
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(await sizesIn(place)).toEqual([5, 5]);
});

test('a file in its place that is not a checkpoint is kept, and the new one lies beside it', async () => {
  const [signer, home] = [freshSigner(), temporaryHome()];
  const place = homePlace(home);
  await place.write(noteOf(signer, 4), signer);
  const file = join(home, 'checkpoints', ORIGIN.slice(9), pathOfSize(5));
  writeFileSync(file, Buffer.from([0xff, 0xfe]));
  expect(await place.write(noteOf(signer, 5), signer)).toEqual({ result: 'written' });
  const notes = (await Array.fromAsync(place.all(ORIGIN))).filter(({ size }) => size === 5);
  expect(notes.map(({ note }) => note).sort()).toEqual([noteOf(signer, 5), undefined].sort());
});

test('a link below a place is not followed for writing or reading', async () => {
  const [signer, folder, elsewhere] = [freshSigner(), temporaryHome(), temporaryHome()];
  symlinkSync(elsewhere, join(folder, ORIGIN.slice(9)));
  expect(await folderPlace(folder).write(noteOf(signer, 5), signer)).toMatchObject({ result: 'down' });
  expect(readdirSync(elsewhere)).toEqual([]);
  const home = temporaryHome();
  mkdirSync(join(home, 'checkpoints'), { mode: 0o700 });
  symlinkSync(elsewhere, join(home, 'checkpoints', ORIGIN.slice(9)));
  expect(await homePlace(home).write(noteOf(signer, 5), signer)).toMatchObject({ result: 'down' });
});

test('a link, a pipe or a folder in place of a checkpoint is noticed, yields no note and blocks no reader', async () => {
  const [signer, home] = [freshSigner(), temporaryHome()];
  const place = homePlace(home);
  await place.write(noteOf(signer, 5), signer);
  const folder = join(home, 'checkpoints', ORIGIN.slice(9), 'x000', 'x000');
  symlinkSync(join(folder, '005'), join(folder, '006'));
  execFileSync('mkfifo', [join(folder, '007')]);
  mkdirSync(join(folder, '008'));
  const found = await Array.fromAsync(place.all(ORIGIN));
  expect(found.map(({ size, note }) => [size, note])).toEqual([
    [8, undefined],
    [7, undefined],
    [6, undefined],
    [5, noteOf(signer, 5)],
  ]);
});

test('a link where a checkpoint is about to be written stays, and so does its target', async () => {
  const [signer, home] = [freshSigner(), temporaryHome()];
  const place = homePlace(home);
  await place.write(noteOf(signer, 4), signer);
  const victim = join(home, 'victim');
  writeFileSync(victim, 'as it was');
  symlinkSync(victim, join(home, 'checkpoints', ORIGIN.slice(9), pathOfSize(5)));
  expect(await place.write(noteOf(signer, 5), signer)).toEqual({ result: 'written' });
  expect(readFileSync(victim, 'utf8')).toBe('as it was');
  const found = (await Array.fromAsync(place.all(ORIGIN))).filter(({ note }) => note !== undefined);
  expect(found.map(({ size }) => size)).toEqual([5, 4]);
});

test('a missing folder is created for writing, and counts as down for reading', async () => {
  const [signer, folder] = [freshSigner(), join(temporaryHome(), 'share')];
  const wanted = { origin: ORIGIN, beyond: 0, most: 1 };
  expect(await folderPlace(folder).look(wanted)).toEqual({ result: 'down', why: 'it does not exist' });
  expect(await folderPlace(folder).write(noteOf(signer, 5), signer)).toEqual({ result: 'written' });
});

test('new folders and files in a shared folder have its permissions', async () => {
  const [signer, folder] = [freshSigner(), join(temporaryHome(), 'share')];
  mkdirSync(folder);
  execFileSync('chmod', ['2770', folder]);
  await folderPlace(folder).write(noteOf(signer, 5), signer);
  const log = join(folder, ORIGIN.slice(9));
  const modes = [log, join(log, 'x000/x000'), join(log, pathOfSize(5))].map(
    (path) => statSync(path).mode & 0o7777,
  );
  expect(modes).toEqual([0o2770, 0o2770, 0o640]);
});

test('a process that is killed while it writes leaves only whole checkpoints', {
  timeout: 600_000,
}, async () => {
  const home = temporaryHome();
  const script = join(import.meta.dirname, 'write-notes.ts');
  for (let round = 0; round < 5; round += 1) {
    const child = spawn(process.execPath, [script, home, String(round * 1_000)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    for await (const _ of child.stdout) if (existsSync(join(home, 'checkpoints'))) break;
    child.kill('SIGKILL');
    await ended;
  }
  const notes = await Array.fromAsync(homePlace(home).all(ORIGIN));
  expect(notes.length).toBeGreaterThan(4);
  for (const { note, file } of notes) expect(note?.endsWith('=\n'), file).toBe(true);
});
