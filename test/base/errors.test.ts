import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { failureOf, LifeboatError } from '../../src/base/errors.ts';

test('an error of the system about a file is put into words, with the file and what to do', () => {
  const missing = thrownBy(() => readFileSync('/nowhere/at/all'));
  expect(failureOf(missing)).toMatchObject({
    code: 'file.failed',
    shortMessage: '/nowhere/at/all cannot be used: it does not exist',
    hints: [expect.stringContaining('try again'), expect.stringContaining('lifeboat runs')],
  });
  const folder = thrownBy(() => writeFileSync('/tmp', 'x'));
  expect(failureOf(folder).shortMessage).toBe('/tmp cannot be used: it is a folder');
  const torn = Object.assign(new Error('EIO: i/o error, rename'), { code: 'EIO', path: '/data/7.part' });
  expect(failureOf(torn).shortMessage).toBe('/data/7.part cannot be used: the disk reports an error');
});

test('an error that is about no file, or unknown, keeps only its first line as evidence', () => {
  const refused = Object.assign(new Error('connect EACCES\nsecret'), { code: 'EACCES' });
  expect(failureOf(refused)).toMatchObject({ code: 'internal', evidence: { error: 'connect EACCES' } });
  const own = new LifeboatError('a.b', 'said', { cause: refused });
  expect(failureOf(own)).toMatchObject({ code: 'a.b', shortMessage: 'said' });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('it has thrown nothing');
}
