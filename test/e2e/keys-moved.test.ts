import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jsQR from 'jsqr';
import { describe, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';

const codeOf = (stderr: string) =>
  (JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { code: string }).code;

type Benches = ReturnType<typeof useQuickBenches>;

/** A home with two keys, and one on which nothing has ever been. */
async function twoMachines(bench: Benches, context: TestContext) {
  const home = await bench(context);
  await home.rotate();
  const other = await bench(context, { server: home.server, firstDay: true });
  return { home, other, expect: context.expect };
}

function fileIn({ folder }: TestBench, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

describe.concurrent('keys that move to another machine', () => {
  const bench = useQuickBenches();

  test('under a passphrase, every key comes back under its fingerprint; a second import adds none', async (context) => {
    const { home, other, expect } = await twoMachines(bench, context);
    const passphrase = fileIn(home, 'words', 'a passphrase of words\n');
    const file = join(home.folder, 'keys.age');
    await home.good('keys', 'export', file, '--passphrase-file', passphrase);
    for (const key of (await home.vault()).values()) expect(readFileSync(file, 'utf8')).not.toContain(key);
    const first = await other.good('keys', 'import', file, '--passphrase-file', passphrase, '--json');
    expect(JSON.parse(first)).toMatchObject({ keys: 2, added: 2, instances: ['orders'] });
    expect([...(await other.vault())]).toEqual([...(await home.vault())]);
    const second = await other.good('keys', 'import', file, '--passphrase-file', passphrase, '--json');
    expect(JSON.parse(second)).toMatchObject({ keys: 2, added: 0 });
  });

  test('nothing is stored with a wrong passphrase, from a cut file or one of a later version, or over another value', async (context) => {
    const { home, other, expect } = await twoMachines(bench, context);
    const words = fileIn(home, 'words', 'a passphrase of words\n');
    const file = join(home.folder, 'keys.age');
    await home.good('keys', 'export', file, '--passphrase-file', words);
    const refused = async (path: string, passphrase: string) => {
      const ended = await other.run('keys', 'import', path, '--passphrase-file', passphrase, '--json');
      expect(ended.code).not.toBe(0);
      return codeOf(ended.stderr);
    };
    const wrong = fileIn(home, 'wrong', 'another passphrase\n');
    expect(await refused(file, wrong)).toBe('escrow.wrong-passphrase');
    const text = readFileSync(file, 'utf8');
    expect(await refused(fileIn(home, 'cut', text.slice(0, text.length / 2)), words)).toBe('escrow.damaged');
    expect(await refused(fileIn(home, 'empty', ''), words)).toBe('escrow.damaged');
    expect((await other.vault()).size).toBe(0);
    const again = await home.run('keys', 'export', file, '--passphrase-file', words, '--json');
    expect(again.code).not.toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('an identity in the file keeps the whole file out of a key store that has another identity', async (context) => {
    const { home, other, expect } = await twoMachines(bench, context);
    const words = fileIn(home, 'words', 'a passphrase of words\n');
    const file = join(home.folder, 'keys.age');
    await home.good('keys', 'identity');
    await other.good('keys', 'identity');
    await home.good('keys', 'export', file, '--passphrase-file', words, '--with-identity');
    const ended = await other.run('keys', 'import', file, '--passphrase-file', words, '--json');
    expect(codeOf(ended.stderr)).toBe('keys.exists');
    expect((await other.vault()).size).toBe(0);
    const third = await bench(context, { server: home.server, firstDay: true });
    await third.good('keys', 'import', file, '--passphrase-file', words);
    expect(await third.good('keys', 'identity')).toBe(await home.good('keys', 'identity'));
  });

  test('one key that is already held with another value keeps the whole file out', async (context) => {
    const { home, other, expect } = await twoMachines(bench, context);
    const words = fileIn(home, 'words', 'a passphrase of words\n');
    const file = join(home.folder, 'keys.age');
    await home.good('keys', 'export', file, '--passphrase-file', words);
    const [fingerprint = ''] = [...(await home.vault()).keys()];
    const another = fileIn(other, 'another', `${CANARIES.givenKey}\n`);
    await other.good('keys', 'add', 'orders', '--as', fingerprint, '--file', another);
    const before = [...(await other.vault())];
    const ended = await other.run('keys', 'import', file, '--passphrase-file', words, '--json');
    expect(codeOf(ended.stderr)).toBe('keys.exists');
    expect([...(await other.vault())]).toEqual(before);
  });
});

describeWith(['age', 'age-keygen'], 'a file of keys for a recipient', () => {
  const bench = useQuickBenches();

  test('is opened by the age tool alone, and by `keys import` with that identity', async (context) => {
    const { home, other, expect } = await twoMachines(bench, context);
    const identity = join(home.folder, 'ada.txt');
    const made = spawnSync('age-keygen', ['-o', identity], { encoding: 'utf8' });
    const recipient = /age1\w+/u.exec(made.stderr)?.[0] ?? '';
    const file = join(home.folder, 'keys.age');
    await home.good('keys', 'export', file, '--to', recipient);
    const opened = spawnSync('age', ['--decrypt', '--identity', identity, file], { encoding: 'utf8' });
    const { keys, format } = JSON.parse(opened.stdout) as { keys: { key: string }[]; format: string };
    expect(format).toBe('lifeboat.keys/1');
    expect(keys.map(({ key }) => key).sort()).toEqual([...(await home.vault()).values()].sort());
    await other.good('keys', 'import', file, '--identity', identity);
    expect([...(await other.vault())]).toEqual([...(await home.vault())]);

    const later = join(home.folder, 'later.age');
    const sealed = spawnSync('age', ['--encrypt', '--armor', '--recipient', recipient, '--output', later], {
      input: JSON.stringify({ format: 'lifeboat.keys/2', everything: 'else' }),
    });
    expect(sealed.status).toBe(0);
    const refused = await other.run('keys', 'import', later, '--identity', identity, '--json');
    expect(codeOf(refused.stderr)).toBe('keys.newer-file');
  });
});

describe.concurrent('keys that several people open together', () => {
  const bench = useQuickBenches();

  async function shared(context: TestContext, ...more: string[]) {
    const machines = await twoMachines(bench, context);
    const folder = join(machines.home.folder, 'shares');
    await machines.home.good('keys', 'split', '--out', folder, ...more);
    const at = (name: string) => join(folder, name);
    return { ...machines, folder, at, sealed: at('keys.age') };
  }

  test('any three of five shares bring back every key, and no file holds a key', async (context) => {
    const { home, other, expect, at, sealed, folder } = await shared(context);
    for (const name of readdirSync(folder))
      for (const key of (await home.vault()).values())
        expect(readFileSync(at(name), 'utf8')).not.toContain(key);
    const checked = await other.good(
      ...['keys', 'join', sealed, at('share-2.txt'), at('share-3.txt'), at('share-1.txt'), '--check'],
    );
    expect(checked).toContain('2 keys of orders');
    expect((await other.vault()).size).toBe(0);
    await other.good('keys', 'join', sealed, at('share-5.txt'), at('share-1.txt'), at('share-4.txt'));
    expect([...(await other.vault())]).toEqual([...(await home.vault())]);
  });

  test('too few shares, a repeated, a foreign or a mistyped share, and another file each have their own error', async (context) => {
    const { home, other, expect, at, sealed } = await shared(context);
    await home.good('keys', 'split', '--out', join(home.folder, 'second'));
    const foreign = (name: string) => join(home.folder, 'second', name);
    const refused = async (file: string, ...shares: string[]) => {
      const ended = await other.run('keys', 'join', file, ...shares, '--json');
      expect(ended.code).toBe(2);
      const { code, message } = JSON.parse(ended.stderr.trim().split('\n').at(-1) ?? '') as Refusal;
      return `${code}: ${message}`;
    };
    const [one, two, three] = [at('share-1.txt'), at('share-2.txt'), at('share-3.txt')] as const;
    expect(await refused(sealed, one, two)).toBe('share.too-few: only share 1, 2 is here: 3 of 5 are needed');
    expect(await refused(sealed, one, two, two)).toMatch(/^share\.too-few: only share 1, 2 is here/u);
    expect(await refused(sealed, one, two, foreign('share-3.txt'))).toMatch(/^share\.foreign: /u);
    expect(await refused(foreign('keys.age'), one, two, three)).toMatch(/^share\.other-file: /u);
    const typed = readFileSync(two, 'utf8').replace(/^(3 {2}.)(.)/mu, (_, start: string, letter: string) =>
      start.concat(letter === '7' ? '8' : '7'),
    );
    const mistyped = fileIn(home, 'mistyped', typed);
    expect(await refused(sealed, one, mistyped, three)).toBe(
      `share.mistyped: line 3 of the share in ${mistyped} has a mistake`,
    );
    const cut = fileIn(home, 'cut', readFileSync(two, 'utf8').trimEnd().split('\n').slice(0, -1).join('\n'));
    expect(await refused(sealed, one, cut, three)).toMatch(/^share\.incomplete: .* lacks line 5/u);
    const lines = readFileSync(two, 'utf8').trimEnd().split('\n');
    const mixed = [...lines.slice(0, -1), readFileSync(three, 'utf8').trimEnd().split('\n').at(-1)];
    expect(await refused(sealed, one, fileIn(home, 'mixed', mixed.join('\n')), three)).toMatch(
      /^share\.mixed: /u,
    );
    const both = [two, three].map((path) => readFileSync(path, 'utf8')).join('\n');
    expect(await refused(sealed, one, fileIn(home, 'both', both))).toMatch(/^share\.mixed: /u);
    expect(await refused(sealed, one, fileIn(home, 'none', 'nothing'), three)).toMatch(/^share\.none: /u);
    expect((await other.vault()).size).toBe(0);
  });

  interface Refusal {
    readonly code: string;
    readonly message: string;
  }

  test('a share is read as people type it: lower case, dashes, O for 0, I and L for 1', async (context) => {
    const { home, other, expect, at, sealed } = await shared(context, '--threshold', '2', '--shares', '2');
    const typed = readFileSync(at('share-1.txt'), 'utf8').replaceAll(/^[1-5] .*$/gmu, (line) => {
      const [number = '', ...groups] = line.split(/ +/u);
      const text = groups.join('-').toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l');
      return `${number}. ${text}`;
    });
    await other.good('keys', 'join', sealed, fileIn(home, 'typed', typed), at('share-2.txt'));
    expect([...(await other.vault())]).toEqual([...(await home.vault())]);
  });

  test('the page of a share holds its lines twice: as text, and as a QR code that other programs read', async (context) => {
    const { home, other, expect, at, sealed } = await shared(context, '--paper');
    const page = readFileSync(at('share-2.html'), 'utf8');
    expect(page).not.toMatch(/<script|src=|https?:\/\/(?!www\.w3\.org)/u);
    const read = qrIn(page);
    expect(read.split('\n')).toEqual(page.match(/^[1-5] {2}[0-9A-Z ]+$/gmu));
    const scanned = fileIn(home, 'scanned', read);
    await other.good('keys', 'join', sealed, scanned, at('share-1.html'), at('share-5.html'));
    expect([...(await other.vault())]).toEqual([...(await home.vault())]);
  });

  test('a non-empty folder and impossible thresholds are refused', async (context) => {
    const { home, expect, folder } = await shared(context);
    const before = readdirSync(folder);
    const refused = [
      ['--out', folder],
      ['--out', join(home.folder, 'new'), '--shares', '2'],
      ['--out', join(home.folder, 'new'), '--threshold', '1'],
      ['--out', join(home.folder, 'new'), '--shares', '33'],
    ];
    for (const flags of refused) expect((await home.run('keys', 'split', ...flags)).code).toBe(2);
    expect(readdirSync(folder)).toEqual(before);
  });
});

/** Reads the QR code of a page with another library, from its picture. */
function qrIn(page: string): string {
  const svg = /<svg[^>]*viewBox="0 0 (\d+) \d+"[^>]*>[\s\S]*?<\/svg>/u.exec(page);
  const size = Number(svg?.[1]);
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (const [, x = '', y = '', width = '', height = ''] of (svg?.[0] ?? '').matchAll(
    /M(\d+),(\d+)h(\d+)v(\d+)h-\d+z/gu,
  ))
    for (let row = Number(y); row < Number(y) + Number(height); row += 1)
      for (let column = Number(x); column < Number(x) + Number(width); column += 1)
        pixels.fill(0, (row * size + column) * 4, (row * size + column) * 4 + 3);
  return jsQR.default(pixels, size, size)?.data ?? '';
}

describe.concurrent('a key that a person chose', () => {
  const bench = useQuickBenches();

  test('is warned about when it can be guessed or looks mistyped, but accepted; a generated one gives no warning', async (context) => {
    const home = await bench(context);
    const { expect } = context;
    const set = ['backup-config', 'set', 'orders', '--yes', '--confirm', 'orders'];
    const weak = await home.run(...set, '--key-file', fileIn(home, 'weak', 'Summer2026!Summer2026!'));
    expect([weak.code, weak.stderr]).toEqual([0, expect.stringContaining('the new key is weak: about ')]);
    const good = await home.run(...set, '--new-key');
    expect([good.code, good.stderr]).toEqual([0, expect.not.stringContaining('warning: the')]);
    const added = await home.run('keys', 'add', 'orders', '--file', fileIn(home, 'odd', 'raz\u00a0dva tri'));
    expect(added.stderr).toContain('warning: the key: it has a character that cannot be seen');
    expect(added.stderr).not.toContain('the new key is');
  });
});

describe.concurrent('the passphrase of the vault file', () => {
  const bench = useQuickBenches();

  test('is changed in place: only the new one opens it, and nothing in it is lost', async (context) => {
    const home = await bench(context);
    const { expect } = context;
    await home.rotate();
    const listed = await home.good('keys', 'list', '--json');
    const words = fileIn(home, 'new-words', 'five other words of mine\n');
    await home.good('keys', 'passphrase', '--new-file', words);
    const old = await home.run('keys', 'list', '--json');
    expect([old.code, codeOf(old.stderr)]).toEqual([1, 'keys.wrong-passphrase']);
    home.env['LIFEBOAT_PASSPHRASE_FILE'] = words;
    expect(await home.good('keys', 'list', '--json')).toBe(listed);
    expect(readdirSync(home.home).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const weak = fileIn(home, 'weak', 'short\n');
    const refused = await home.run('keys', 'passphrase', '--new-file', weak, '--json');
    expect([refused.code, codeOf(refused.stderr)]).toEqual([2, 'keys.weak-passphrase']);
    expect(await home.good('keys', 'list', '--json')).toBe(listed);
  });

  test('comes from a command: its first line, without any variable of Lifeboat', async (context) => {
    const home = await bench(context);
    const { expect } = context;
    const listed = await home.good('keys', 'list', '--json');
    const file = home.env['LIFEBOAT_PASSPHRASE_FILE'] ?? '';
    home.env['LIFEBOAT_PASSPHRASE_COMMAND'] = `cat '${file}'; env | grep LIFEBOAT_ > '${home.folder}/seen'`;
    const both = await home.run('keys', 'list', '--json');
    expect([both.code, codeOf(both.stderr)]).toEqual([2, 'keys.two-passphrases']);
    delete home.env['LIFEBOAT_PASSPHRASE_FILE'];
    const ended = await home.run('keys', 'list', '--json');
    // grep finds nothing, so that the command ends with 1: its failure is a failure.
    expect([ended.code, codeOf(ended.stderr)]).toEqual([4, 'keys.no-passphrase']);
    expect(readFileSync(join(home.folder, 'seen'), 'utf8')).toBe('');
    home.env['LIFEBOAT_PASSPHRASE_COMMAND'] = `cat '${file}'`;
    expect(await home.good('keys', 'list', '--json')).toBe(listed);
    for (const [command, words] of [
      ['true', 'printed no passphrase'],
      ['no-such-command-here', 'ended with 127'],
      [`cat '${file}' >&2; exit 3`, 'ended with 3'],
      ['yes', 'printed too much'],
    ] as const) {
      home.env['LIFEBOAT_PASSPHRASE_COMMAND'] = command;
      const failed = await home.run('keys', 'list');
      expect(failed.code).toBe(4);
      expect(failed.stderr).toContain(words);
      expect(failed.stderr).not.toContain(CANARIES.passphrase);
    }
  });
});
