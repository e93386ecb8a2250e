import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { putInPlace } from '../../build/put-in-place.ts';

function folders(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'lifeboat-place-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [built, place] = [join(root, 'built'), join(root, 'dist')];
  for (const folder of [built, place]) mkdirSync(join(folder, 'prose'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(built, name), text);
  return { root, built, place };
}

test('a new build replaces the old one as a whole, and leaves nothing beside it', () => {
  const { root, built, place } = folders({ 'main.cjs': 'new', 'prose/a.json': '{}' });
  writeFileSync(join(place, 'part7.cjs'), 'old');
  putInPlace(built, place);
  expect(readFileSync(join(place, 'main.cjs'), 'utf8')).toBe('new');
  expect(existsSync(join(place, 'part7.cjs'))).toBe(false);
  expect(readdirSync(root)).toEqual(['dist']);
});

test('an identical build leaves the old one in place, for processes that load from it', () => {
  const { root, built, place } = folders({ 'main.cjs': 'same', 'prose/a.json': '{}' });
  writeFileSync(join(place, 'main.cjs'), 'same');
  writeFileSync(join(place, 'prose/a.json'), '{}');
  const { ino } = statSync(place);
  putInPlace(built, place);
  expect(statSync(place).ino).toBe(ino);
  expect(readdirSync(root)).toEqual(['dist']);
});

test('the first build is put in place where there is none', () => {
  const { built, place } = folders({ 'main.cjs': 'first' });
  rmSync(place, { recursive: true });
  putInPlace(built, place);
  expect(readFileSync(join(place, 'main.cjs'), 'utf8')).toBe('first');
});
