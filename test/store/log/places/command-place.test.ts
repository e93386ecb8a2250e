import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandPlace } from '../../../../src/store/log/places/place.ts';
import { freshSigner } from '../../fresh-signer.ts';
import { temporaryHome } from '../../temporary-home.ts';
import { noteOf } from './notes.ts';

const signer = freshSigner();
const placeFor = (command: string, timeoutMs = 10_000) =>
  commandPlace({ command, timeoutMs, hideEnv: ['SECRET_TOKEN'] });

test('a command gets the checkpoint on its standard input, and no variable that holds a secret', async () => {
  process.env['SECRET_TOKEN'] = 'not to be seen';
  onTestFinished(() => void delete process.env['SECRET_TOKEN']);
  const file = join(temporaryHome(), 'out');
  const place = placeFor(`cat > ${file}; env >> ${file}`);
  expect(await place.write(noteOf(signer, 5), signer)).toEqual({ result: 'written' });
  const text = readFileSync(file, 'utf8');
  expect(text.startsWith(noteOf(signer, 5))).toBe(true);
  expect(text).not.toContain('SECRET_TOKEN');
});

test('a command that fails, reads nothing or takes too long counts as down, with the reason', async () => {
  const [failing, deaf, slow] = [
    placeFor('echo no such ticket >&2; exit 3'),
    placeFor('exit 0'),
    placeFor('exec sleep 600', 100),
  ];
  const note = noteOf(signer, 5);
  expect(await failing.write(note, signer)).toEqual({
    result: 'down',
    why: 'it ended with 3: no such ticket',
  });
  expect(await deaf.write(note.repeat(5_000), signer)).toEqual({ result: 'written' });
  expect(await slow.write(note, signer)).toEqual({ result: 'down', why: 'it took longer than 0.1 s' });
});

test('a command cannot be read back', async () => {
  const look = await placeFor('true').look({ origin: undefined, beyond: 0, most: 1 });
  expect(look).toEqual({ result: 'write-only' });
});
