import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { ANSWERED, changes, ROTATE, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

const NO: Trouble = {
  work: false,
  answer: { status: 422, body: { error: 'invalid', description: 'no' } },
};
/** The request has arrived, and its sender will not learn of it. */
const NEVER_HEARD: Trouble = { answerAfterMs: 60_000 };

/** The first PATCH kills its sender; what becomes of the others is given. */
function killAtPatch(others: Trouble | undefined) {
  let patches = 0;
  const murder = { kill: () => undefined as unknown };
  const trouble = ({ method }: { readonly method: string }): Trouble | undefined => {
    if (method !== 'PATCH') return undefined;
    patches += 1;
    if (patches > 1) return others;
    murder.kill();
    return NEVER_HEARD;
  };
  return { trouble, murder };
}

const NEW_KEY = ['backup-config', 'set', '--instance', 'orders', '--new-key', '--confirm', 'orders'] as const;

describe.concurrent('a key change whose process dies while the request is in progress', () => {
  const bench = useQuickBenches();

  test('is KEY UNCERTAIN when it is sent again and refused: the key that was sent may be in force', async (context) => {
    const { expect } = context;
    const { trouble, murder } = killAtPatch(NO);
    const { start, run, entries } = await bench(context, { trouble });
    const killed = start(...ROTATE, ...ANSWERED);
    murder.kill = () => killed.child.kill('SIGKILL');
    expect((await killed.ended).code).toBeNull();
    expect(typesOf(await entries(), 'instance')).toEqual(['key.proven', 'key.pending', 'key.sent']);

    await run('resume', ...ANSWERED);
    const journal = await entries();
    expect(journal.map(({ body }) => (body as { to?: string }).to)).toContain('change.inDoubt');
    expect(typesOf(journal, 'instance').slice(2, 6)).toEqual([
      'key.sent',
      'key.sent',
      'key.refused',
      'key.uncertain',
    ]);
  });

  test('keeps another new key from being sent until the earlier request can no longer arrive', async (context) => {
    const { expect } = context;
    const { trouble, murder } = killAtPatch(undefined);
    const { start, here, run, server } = await bench(context, { trouble, inFlight: '10m' });
    const killed = start(...NEW_KEY);
    murder.kill = () => killed.child.kill('SIGKILL');
    await killed.ended;
    const second = await run(...NEW_KEY);
    expect(second.code, second.stderr).toBe(3);
    expect(second.stderr).toContain('may still arrive');
    const listed = await here('keys', 'list', '--json');
    expect(listed.stdout).toContain('"state":"uncertain"');
    const given = await here('resume', 'last', '--abandon', 'the process died');
    expect(given.code, given.stderr).toBe(0);
    const rotated = await run(...ROTATE, ...ANSWERED);
    expect(rotated.code, rotated.stderr).not.toBe(0);
    expect(rotated.stderr).toContain('may still arrive');
    expect(changes(server).patches).toBe(1);
  });
});

describe.concurrent('a key that is entered while a run waits for it', () => {
  const bench = useQuickBenches();

  test('is stored at once, and recorded when the run has released the ledger', async (context) => {
    const { expect } = context;
    const asked = Promise.withResolvers<void>();
    const trouble = ({ method }: { readonly method: string }): Trouble | undefined => {
      if (method !== 'PATCH') return undefined;
      asked.resolve();
      return NEVER_HEARD;
    };
    const { start, run, entries, home } = await bench(context, { trouble });
    const running = start(...ROTATE, ...ANSWERED);
    await asked.promise;
    const file = join(home, 'other.key');
    writeFileSync(file, 'another-key-of-the-instance-0123456789', { mode: 0o600 });
    const added = await run('keys', 'add', '--instance', 'orders', '--file', file);
    expect(added.code, added.stderr).toBe(0);
    expect(added.stdout).toMatch(/^key [0-9a-f]{12} of orders is stored in /u);
    expect(added.stderr).toContain('not on record yet: ');
    expect(typesOf(await entries(), 'instance')).not.toContain('key.added');
    running.child.kill('SIGKILL');
    await running.ended;
    const again = await run('keys', 'add', '--instance', 'orders', '--file', file, '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({ held: true, stored: false, onRecord: true });
    expect(typesOf(await entries(), 'instance')).toContain('key.added');
  });
});

describe.concurrent('a key store that existed and is gone', () => {
  const bench = useQuickBenches();

  test('is the vault file where only the config says so, and the variable wins', async (context) => {
    const { expect } = context;
    const { env, home, run } = await bench(context);
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    writeFileSync(config, `keyStore: vault\n${readFileSync(config, 'utf8')}`);
    delete env['LIFEBOAT_KEYCHAIN'];
    const listed = await run('keys', 'list');
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stderr + listed.stdout).toContain(join(home, 'vault.age'));
    env['LIFEBOAT_KEYCHAIN'] = 'elsewhere';
    const other = await run('keys', 'list');
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('LIFEBOAT_KEYCHAIN is elsewhere'),
    ]);
  });

  test('is never silently replaced by a new one, and doctor says what is missing', async (context) => {
    const { expect } = context;
    const { home, run, entries, rotate, server } = await bench(context);
    expect((await rotate()).code).toBe(0);
    const vault = join(home, 'vault.age');
    renameSync(vault, `${vault}.away`);
    const written = (await entries()).length;
    for (const command of [NEW_KEY, [...ROTATE, ...ANSWERED]]) {
      const { code, stderr } = await run(...command);
      expect(code, stderr).toBe(1);
      expect(stderr).toMatch(/there is no vault file \S+vault\.age, and the journal names keys/u);
      expect(stderr).toContain('they may be in the OS keychain (`keyStore: os`)');
    }
    expect([existsSync(vault), (await entries()).length, changes(server).patches]).toEqual([
      false,
      written,
      1,
    ]);
    expect((await run('doctor')).stdout).toMatch(
      /BAD +key store +there is no vault file .*, and the journal names keys/,
    );
    renameSync(`${vault}.away`, vault);
    expect((await run('doctor')).stdout).toMatch(/ok +orders: keys/);
  });

  test('is also reported by doctor where only one of its keys is missing', async (context) => {
    const { expect } = context;
    const { home, run, rotate } = await bench(context);
    const vault = join(home, 'vault.age');
    const before = readFileSync(vault);
    expect((await rotate()).code).toBe(0);
    writeFileSync(vault, before, { mode: 0o600 });
    const { code, stdout } = await run('doctor');
    expect(stdout).toMatch(/BAD +orders: keys +may be in force and is not held: [0-9a-f]{12}/);
    expect(code).toBe(1);
  });
});

describe.skipIf(!hasTerminal())('a person who wants to begin without the old keys', () => {
  const bench = useQuickBenches();

  test('types a confirmation once, and is not asked again', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { home, product, folder, run, rotate } = opened;
    expect((await rotate()).code).toBe(0);
    rmSync(join(home, 'vault.age'));
    writeFileSync(join(folder, 'key'), `${CANARIES.givenKey}\n`, { mode: 0o600 });
    const add = ['keys', 'add', 'orders', '--file', join(folder, 'key')];
    const answered = async (words: string, code: number) => {
      const screen = personAt(openTerminal(product, opened, add), expect);
      try {
        await screen.shows('anything else leaves:');
        screen.type(`${words}${KEYS.enter}`);
        await screen.shows(`rc=${code}`);
      } finally {
        await screen.close();
      }
    };
    await answered('yes', 1);
    expect(existsSync(join(home, 'vault.age'))).toBe(false);
    await answered('begin without the old keys', 0);
    const again = await run(...add);
    expect(again.code, again.stderr).toBe(0);
  });
});

describe.concurrent('keys that are only read', () => {
  const bench = useQuickBenches();

  test('are listed from a home that cannot be written', async (context) => {
    const { expect } = context;
    const { home, here, rotate, startUnder } = await bench(context);
    expect((await rotate()).code).toBe(0);
    for (const name of ['lifeboat.db-wal', 'lifeboat.db-shm']) rmSync(join(home, name), { force: true });
    // The superuser may write wherever the mode forbids it, but not on a disk that is mounted for reading
    // only.
    const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(home, 0o500);
    const under = isRoot ? ['unshare', '--mount', 'sh', '-c', script, home] : [];
    const listed = await startUnder(under, 'keys', 'list').ended;
    if (!isRoot) chmodSync(home, 0o700);
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout).toMatch(/proven/);
    expect((await here('keys', 'list')).stdout).toBe(listed.stdout);
  });
});

describe.concurrent('a stored access token', () => {
  const bench = useQuickBenches();

  test('is still there when its replacement cannot be stored', async (context) => {
    const { expect } = context;
    const { folder, run } = await bench(context, { tokenSource: '{ keychain: true }' });
    const file = join(folder, 'a-token');
    const add = () => run('keys', 'add', 'orders', '--token', '--file', file);
    writeFileSync(file, `${CANARIES.token}\n`, { mode: 0o600 });
    expect((await add()).code).toBe(0);
    writeFileSync(file, Buffer.from('f0e1d2c3', 'hex'), { mode: 0o600 });
    const { code, stderr } = await add();
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('is not UTF-8 text');
    expect((await run('backups', 'list', '--instance', 'orders')).code).toBe(0);
    writeFileSync(file, `${CANARIES.otherToken}\n`, { mode: 0o600 });
    expect((await add()).code).toBe(0);
    expect((await run('backups', 'list', '--instance', 'orders')).code).toBe(4);
  });

  test('of two key stores has another name in each for the same key, and people can still compare them', async (context) => {
    const { expect } = context;
    const [ada, bob] = await Promise.all([bench(context), bench(context, { firstDay: true })]);
    const key = join(ada.folder, 'key');
    writeFileSync(key, CANARIES.oldKey, { mode: 0o600 });
    const check = ({ run }: TestBench) => run('keys', 'add', 'orders', '--check', '--file', key);
    const unknown = await check(bob);
    expect(unknown.code, unknown.stderr).toBe(1);
    expect(unknown.stdout).toContain('this key of orders is not held in');
    expect(existsSync(join(bob.home, 'vault.age'))).toBe(false);

    const added = await bob.run('keys', 'add', 'orders', '--file', key);
    expect(added.stdout).toMatch(/^key [0-9a-f]{12} of orders is stored in/);
    const again = await bob.run('keys', 'add', 'orders', '--file', key);
    expect(again.stdout).toMatch(/^key [0-9a-f]{12} of orders was held already: it is stored in/);
    const same = await Promise.all([check(ada), check(bob)]);
    expect(same.map(({ code }) => code)).toEqual([0, 0]);
    const [one, two] = same.map(({ stdout }) => /held in .*, as ([0-9a-f]{12})$/m.exec(stdout)?.[1]);
    expect(one).not.toBe(two);
    const listed = await ada.here('keys', 'list');
    expect(listed.stderr).toContain('fingerprints are made with a secret of this key store');

    writeFileSync(key, CANARIES.givenKey, { mode: 0o600 });
    const before = readFileSync(join(ada.home, 'vault.age'));
    expect((await check(ada)).code).toBe(1);
    expect(readFileSync(join(ada.home, 'vault.age'))).toEqual(before);
  });
});
