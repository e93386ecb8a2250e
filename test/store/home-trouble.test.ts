import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { openIn, readIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

type Making = readonly [name: string, why: RegExp, advice: RegExp, make: (folder: string) => string];

const HOMES: readonly Making[] = [
  [
    'whose name is too long',
    /: its name is too long$/u,
    /a shorter path/u,
    (at) => join(at, 'a'.repeat(600)),
  ],
  [
    'whose path is too long for a database',
    /: its path has \d+ bytes, and that of a database at most 504$/u,
    /a shorter path/u,
    (at) => join(at, ...Array.from({ length: 6 }, () => 'a'.repeat(100))),
  ],
  ['below a file', /: a part of its path is a file, not a folder$/u, /another path/u, (at) => below(at)],
  ['at the end of links in a circle', /: it is a link that leads back to itself$/u, /the link/u, circle],
];

test.each(HOMES)(
  'a home %s is refused with the true reason, which a long path does not hide',
  async (...given) => {
    const [, why, advice, make] = given;
    const home = make(temporaryHome());
    const refused = failureOf(await openIn(home).catch((error: unknown) => error));
    expect(refused).toMatchObject({ code: 'journal.home', shortMessage: expect.stringMatching(why) });
    expect(refused.hints[0]).toMatch(advice);
    expect(`${refused.shortMessage} ${refused.hints[0]}`).not.toMatch(/rights|space/u);
    expect(refused.shortMessage.length).toBeLessThan(250);
  },
);

test.each(HOMES)('a home %s cannot be read either', async (...given) => {
  const home = given[3](temporaryHome());
  const refused = failureOf(await readIn(home).catch((error: unknown) => error));
  expect(refused.code).toMatch(/^(?:journal\.none|file\.failed)$/u);
  expect(refused.shortMessage.length).toBeLessThan(1_000);
});

function below(folder: string): string {
  writeFileSync(join(folder, 'file'), '');
  return join(folder, 'file', 'home');
}

function circle(folder: string): string {
  symlinkSync(join(folder, 'one'), join(folder, 'two'));
  symlinkSync(join(folder, 'two'), join(folder, 'one'));
  return join(folder, 'one', 'home');
}
