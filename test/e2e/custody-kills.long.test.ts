import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openKeys } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, ROTATE, type TestBench, useBenches } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';
import { randomFrom } from '../random.ts';

/*
 * Processes are killed while they add keys, rotate, seal copies and change the passphrase. `KILLS` is how
 * many, `SEED` draws the commands and the moments.
 */
const KILLS = Number(process.env['KILLS'] ?? 25);
const SEED = Number(process.env['SEED'] ?? 1);

interface Home {
  readonly bench: TestBench;
  readonly identity: string;
  /** The passphrases that may open the vault, the one that did last first. */
  passphrases: string[];
  /** Every key that a command reported, or that was seen in the vault. */
  readonly keys: Map<string, string>;
}

const COMMANDS = {
  rotate: () => [...ROTATE, ...ANSWERED],
  add: ({ bench }: Home) => {
    const file = join(bench.folder, 'added');
    writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
    return ['keys', 'add', 'orders', '--file', file];
  },
  update: () => ['keys', 'escrow', 'update'],
  passphrase: (home: Home) => {
    const words = `${randomBytes(6).toString('hex')} and some words`;
    home.passphrases.push(words);
    const file = join(home.bench.folder, 'new-words');
    writeFileSync(file, words, { mode: 0o600 });
    return ['keys', 'passphrase', '--new-file', file];
  },
} as const;

/** The keys in the vault, by whichever passphrase opens it, which is then that of the file. */
async function lookInto(home: Home): Promise<ReadonlyMap<string, string>> {
  for (const words of home.passphrases.toReversed()) {
    const keyring = await openKeys(home.bench.home, words);
    const { keys } = await keyring.bundle('orders').catch(() => ({ keys: undefined }));
    if (keys === undefined) continue;
    home.passphrases = [words];
    writeFileSync(home.bench.env['LIFEBOAT_PASSPHRASE_FILE'] ?? '', words, { mode: 0o600 });
    return new Map(keys.map(({ fingerprint, key }) => [fingerprint, key.reveal()]));
  }
  throw new Error('no passphrase opens the vault');
}

/** Ends a run that was killed, as its operator would. */
async function finish({ bench }: Home): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    const open = itemsIn<object>((await bench.run('runs', '--open', '--json')).stdout);
    if (open.length === 0) return;
    const { code, stderr } = await bench.run('resume', ...ANSWERED);
    if (code === 3 && tries > 3) await bench.run('resume', '--abandon', 'killed by a test');
    else if (code !== 0 && code !== 3 && code !== 5) throw new Error(stderr);
  }
  throw new Error('the run does not end');
}

/** Every copy is whole, and from them and one identity alone every backup has its key. */
async function fromEscrowAlone(home: Home, newBench: (server: TestBench['server']) => Promise<TestBench>) {
  const folder = join(home.bench.folder, 'escrow');
  for (const name of readdirSync(join(folder, 'orders'))) {
    const text = readFileSync(join(folder, 'orders', name), 'utf8');
    const sealed = text.slice(text.indexOf('\n-----BEGIN') + 1);
    const opened = spawnSync('age', ['--decrypt', '--identity', home.identity], { input: sealed });
    expect(opened.status, `${name}: ${opened.stderr.toString()}`).toBe(0);
  }
  const empty = await newBench(home.bench.server);
  await empty.good('keys', 'escrow', 'open', '--from', folder, '--identity', home.identity, '--no-fit');
  const fits = await empty.run('keys', 'fit', 'orders', '--json');
  expect(itemsIn<{ fit: string }>(fits.stdout).filter(({ fit }) => fit !== 'fits')).toEqual([]);
  await empty.close();
}

describeWith(['age', 'age-keygen'], 'keys whose process is killed', () => {
  describe('at any moment', () => {
    const benches = useBenches();

    test(`${KILLS} times: none is lost or half written, and escrow alone opens every backup`, {
      timeout: KILLS * 20_000,
    }, async (context) => {
      const bench = await benches(context, { taskMs: 10 });
      const identity = join(bench.folder, 'ada.txt');
      const made = spawnSync('age-keygen', ['-o', identity], { encoding: 'utf8' });
      const recipient = /age1\w+/u.exec(made.stderr)?.[0] ?? '';
      const config = bench.env['LIFEBOAT_CONFIG'] ?? '';
      const escrow = `keys: { escrow: { recipients: [${recipient}], atLeast: 1, places: [./escrow, store] } }\n`;
      writeFileSync(config, `${escrow}${readFileSync(config, 'utf8')}`);
      const words = readFileSync(bench.env['LIFEBOAT_PASSPHRASE_FILE'] ?? '', 'utf8').trim();
      const home: Home = { bench, identity, passphrases: [words], keys: new Map() };
      await bench.good('keys', 'escrow', 'prove', '--identity', identity);
      await bench.good('keys', 'escrow', 'update');
      const random = randomFrom(SEED);
      const names = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];
      const took = new Map<string, number>();
      let struck = 0;
      for (let round = 0; round < KILLS; round += 1) {
        const name = names[Math.floor(random() * names.length)] ?? 'add';
        const began = performance.now();
        const running = bench.start(...COMMANDS[name](home));
        const limit = took.get(name);
        // The first of each shows how long it takes; then each is killed somewhere in that time.
        if (limit !== undefined) {
          await Promise.race([running.ended, delay(random() * limit)]);
          running.child.kill('SIGKILL');
        }
        const { code, stderr } = await running.ended;
        if (limit === undefined) took.set(name, performance.now() - began);
        if (code === null) struck += 1;
        else expect(code, stderr).toBe(0);
        const held = await lookInto(home);
        for (const [fingerprint, key] of home.keys) expect(held.get(fingerprint)).toBe(key);
        for (const [fingerprint, key] of held) home.keys.set(fingerprint, key);
        await finish(home);
        if (round % 10 === 9 || round === KILLS - 1) {
          await bench.good('keys', 'escrow', 'update');
          await fromEscrowAlone(home, (server) => benches(context, { server, firstDay: true }));
        }
      }
      process.stderr.write(`${struck} of ${KILLS} were killed, ${home.keys.size} keys, seed ${SEED}\n`);
      expect(struck).toBeGreaterThan(KILLS / 3);
    });
  });
});
