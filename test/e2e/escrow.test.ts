import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type ExpectStatic, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';

/** A person with an age identity of their own, made by the age tool. */
interface Holder {
  readonly file: string;
  readonly recipient: string;
}

function holder(folder: string, name: string): Holder {
  const file = join(folder, `${name}.txt`);
  const made = spawnSync('age-keygen', ['-o', file], { encoding: 'utf8' });
  const recipient = /age1\w+/u.exec(made.stderr)?.[0] ?? '';
  return { file, recipient };
}

const OPEN = ['keys', 'escrow', 'open'] as const;

/** What a test does at each call to its service. */
const atCall = new WeakMap<object, (call: { readonly method: string }) => Trouble | undefined>();

const configOf = (home: TestBench) => home.env['LIFEBOAT_CONFIG'] ?? '';

/** Adds the escrow of these holders to the config. */
function keepEscrow(
  home: TestBench,
  holders: readonly Holder[],
  places = ['./escrow', 'store'],
  atLeast = 2,
) {
  const recipients = holders.map(({ recipient }, at) => `{ name: H${at + 1}, recipient: ${recipient} }`);
  const escrow = `keys:\n  escrow:\n    recipients: [${recipients.join(', ')}]\n    atLeast: ${atLeast}\n    places: [${places.join(', ')}]\n`;
  writeFileSync(configOf(home), `${escrow}${readFileSync(configOf(home), 'utf8')}`);
  return join(configOf(home), '..', 'escrow');
}

async function prove(home: TestBench, holders: readonly Holder[]) {
  for (const { file } of holders) await home.good('keys', 'escrow', 'prove', '--identity', file);
}

/** Opens a copy with the age tool alone, by the command that its head gives. */
function opened(path: string, { file }: Holder) {
  const command = /^open: (.*)$/mu.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
  const words = command.replace('FILE', `'${path}'`).replace('IDENTITY', `'${file}'`);
  return spawnSync('bash', ['-o', 'pipefail', '-c', words], { encoding: 'utf8' });
}

const copiesIn = (folder: string) =>
  readdirSync(join(folder, 'orders')).map((name) => join(folder, 'orders', name));

describeWith(['age', 'age-keygen'], 'for holders with the age tool', () => {
  describe.concurrent('escrow', () => {
    const bench = useQuickBenches();

    async function withHolders(context: TestContext) {
      const told: { server?: object } = {};
      const home = await bench(context, {
        trouble: (call) => {
          return atCall.get(told.server ?? {})?.(call);
        },
      });
      told.server = home.server;
      const folder = join(home.folder, 'people');
      mkdirSync(folder);
      const people = [holder(folder, 'ada'), holder(folder, 'bo')] as const;
      return { home, people, expect: context.expect as ExpectStatic, place: keepEscrow(home, people) };
    }

    test('a rotation whose holders never showed that they can open a copy stops before its PATCH, and names who is missing', async (context) => {
      const { home, people, expect } = await withHolders(context);
      await prove(home, [people[0]]);
      const ended = await home.rotate();
      expect(ended.code, ended.stderr).toBe(3);
      expect(ended.stdout + ended.stderr).toMatch(/1 of the 2 holders .*not H2/u);
      expect(changes(home.server)).toMatchObject({ patches: 0, posts: 0 });
      await prove(home, [people[1]]);
      const resumed = await home.run('resume', ...ANSWERED);
      expect(resumed.code, resumed.stderr).toBe(3);
      expect(changes(home.server)).toMatchObject({ patches: 0 });
    });

    test('a new key is in every place before the service receives it, and the age tool alone opens a copy', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      await prove(home, people);
      const atPatch: string[] = [];
      atCall.set(home.server, ({ method }) => {
        if (method === 'PATCH') atPatch.push(...copiesIn(place));
        return undefined;
      });
      const ended = await home.rotate();
      expect([0, 3], ended.stderr).toContain(ended.code);
      expect(atPatch).toHaveLength(1);
      const [path = ''] = atPatch;
      for (const person of people) {
        const { stdout, status, stderr } = opened(path, person);
        expect(status, stderr).toBe(0);
        const { key, instance, fingerprint } = JSON.parse(stdout) as Record<string, string>;
        expect([instance, path]).toEqual(['orders', join(place, 'orders', `${fingerprint}.age.txt`)]);
        expect([...(await home.vault()).values()]).toContain(key);
        expect(readFileSync(path, 'utf8')).not.toContain(key);
      }
      const ledger = await home.entries('instance/orders');
      const types = ledger.map(({ type }) => type);
      expect(types.indexOf('custody.escrowed')).toBeLessThan(types.indexOf('key.sent'));
      const { custody, blanks } = JSON.parse(await home.good('report', 'last', '--json')) as {
        custody: { label: string; value: string }[];
        blanks: { label: string }[];
      };
      expect(custody.map(({ value }) => value)).toEqual([
        expect.stringMatching(/^sealed on .* UTC to age1.*, age1.*; copies in \.\/escrow, store$/u),
        expect.stringMatching(/^opened a challenge on .* UTC, recorded by Robin$/u),
        expect.stringMatching(/^opened a challenge on .* UTC, recorded by Robin$/u),
      ]);
      expect(blanks.map(({ label }) => label)).not.toContain('Escrow copies');
    });

    test('the recovery card says where the key is kept, and who else has it', async (context) => {
      const { home, people, expect } = await withHolders(context);
      await prove(home, people);
      await home.rotate();
      const prepare = ['run', 'disaster-recovery', '--prepare', '--instance', 'orders', '--yes'];
      const ended = await home.run(...prepare);
      expect(ended.code, ended.stderr).toBe(0);
      const made = (await home.entries('instance/orders')).findLast(({ type }) => type === 'card.prepared');
      expect(made?.body).toMatchObject({
        card: {
          key: {
            store: expect.stringContaining('vault file'),
            isHeld: true,
            sealed: { places: ['./escrow', 'store'], people: 2 },
          },
        },
      });
    });

    test('`keys escrow open` on an empty home brings every key back under its fingerprint, and it fits the backups', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      await prove(home, people);
      await home.rotate();
      await home.good('keys', 'escrow', 'update');
      const before = itemsIn<{ fingerprint: string }>((await home.run('keys', 'list', '--json')).stdout);
      const after = await bench(context, { server: home.server, firstDay: true });
      const back = await after.run(...OPEN, '--from', place, '--identity', people[1].file, '--json');
      expect(back.code, back.stderr).toBe(0);
      const { opened: keys } = JSON.parse(back.stdout) as { opened: { fingerprint: string; fits: number }[] };
      expect(keys.map(({ fingerprint }) => fingerprint).sort()).toEqual(
        before.map(({ fingerprint }) => fingerprint).sort(),
      );
      expect(keys.every(({ fits }) => fits > 0)).toBe(true);
      expect([...(await after.vault()).entries()]).toEqual([...(await home.vault()).entries()]);
      const check = await after.run(
        'keys',
        'add',
        'orders',
        '--check',
        '--file',
        keyFile(after, CANARIES.oldKey),
      );
      expect(check.code, check.stderr).toBe(0);
    });

    test('a colleague who recovers is offered the matching key first, among all that came back', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      await prove(home, people);
      await home.rotate();
      await home.rotate();
      await home.good('keys', 'escrow', 'update');
      const current = itemsIn<{ fingerprint: string; custody: string }>(
        await home.good('keys', 'list', '--json'),
      ).find(({ custody }) => custody === 'active');
      const after = await bench(context, { server: home.server, firstDay: true });
      await after.good('keys', 'escrow', 'open', '--from', place, '--identity', people[1].file);
      const { answer } = JSON.parse(await home.good('backups', 'list', 'orders', '--json')) as {
        answer: { id: number; backup_id: string }[];
      };
      const { backup_id: guid = '' } = answer.toSorted((one, other) => other.id - one.id)[0] ?? {};
      const perform = ['--instance', 'orders', '--target', 'orders-dr', '--perform', '--yes'];
      const waits = await after.run('run', 'disaster-recovery', ...perform, '--guid', guid);
      expect(waits.code, waits.stderr).toBe(3);
      expect(waits.stderr).toMatch(
        new RegExp(
          `key ${current?.fingerprint} was never proven .*, and fits the first block of backup`,
          'u',
        ),
      );
    });

    test('one damaged file is named, and every other key comes back', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      await prove(home, people);
      await home.rotate();
      await home.good('keys', 'escrow', 'update');
      const [first = '', ...others] = copiesIn(place);
      const text = readFileSync(first, 'utf8');
      writeFileSync(
        first,
        text.replace(/\n[^\n]{64}\n/u, (line) => `\n${line.slice(2, -1)}A\n`),
      );
      const after = await bench(context, { server: home.server, firstDay: true });
      const back = await after.run(...OPEN, '--from', place, '--identity', people[0].file, '--json');
      expect(back.code).toBe(1);
      const found = JSON.parse(back.stdout) as {
        opened: unknown[];
        failed: { path: string; code: string }[];
      };
      expect(found.opened).toHaveLength(others.length);
      expect(found.failed.map(({ path, code }) => [path, code])).toEqual([[first, 'escrow.damaged']]);
    });

    test('`keys escrow check` says what cannot be opened without a certain person, and passes only with every copy and proof', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      const none = await home.run('keys', 'escrow', 'check', '--json');
      expect(none.code, none.stderr).toBe(1);
      await prove(home, people);
      await home.good('keys', 'escrow', 'update');
      const met = await home.run('keys', 'escrow', 'check', '--json');
      expect(met.code, met.stdout).toBe(0);
      const { without } = JSON.parse(met.stdout) as { without: { what: string; lost: unknown[] }[] };
      expect(without.map(({ what, lost }) => [what, lost.length])).toEqual([
        ['this machine', 0],
        // The store is on this machine alone.
        ['this machine and ./escrow', 1],
        ['this machine and store', 0],
        ['this machine and H1', 0],
        ['this machine and H2', 0],
      ]);
      const own = JSON.parse(await home.good('keys', 'identity', '--json')) as { recipient: string };
      await home.good('keys', 'escrow', 'add', own.recipient, '--name', 'Own');
      await home.good('keys', 'escrow', 'remove', 'H2');
      const alone = await home.run('keys', 'escrow', 'check', '--json');
      const { onMachine, without: then } = JSON.parse(alone.stdout) as {
        onMachine: object;
        without: { what: string; lost: unknown[] }[];
      };
      expect(onMachine).toEqual({ places: ['store'], holders: ['Own'] });
      expect(then.map(({ what, lost }) => [what, lost.length])).toEqual([
        ['this machine', 0],
        ['this machine and ./escrow', 1],
        ['this machine and store', 0],
        ['this machine and H1', 1],
        ['this machine and Own', 0],
      ]);
      rmSync(place, { recursive: true });
      const gone = await home.run('keys', 'escrow', 'check', '--json');
      expect(gone.code).toBe(1);
      expect(gone.stdout).toContain('no copy in ./escrow');
    });

    test('a removed holder opens nothing new; the keys they can still open are named, and a rotation is offered', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      const third = holder(join(home.folder, 'people'), 'cy');
      await prove(home, people);
      await home.rotate();
      const added = await home.run('keys', 'escrow', 'add', third.recipient, '--name', 'Cy');
      expect(added.code, added.stderr).toBe(0);
      const [path = ''] = copiesIn(place);
      expect(opened(path, third).status).toBe(0);
      const old = readFileSync(path, 'utf8');
      const removed = await home.run('keys', 'escrow', 'remove', 'H1');
      expect(removed.code, removed.stderr).toBe(0);
      expect(readFileSync(configOf(home), 'utf8')).not.toContain(people[0].recipient);
      expect(opened(path, people[0]).status).not.toBe(0);
      expect(opened(path, third).status).toBe(0);
      expect(removed.stdout).toContain(
        `${people[0].recipient.slice(0, 12)}… can still open copies made before of key`,
      );
      expect(removed.stderr).toContain('lifeboat run rotate-key --instance orders');
      writeFileSync(`${path}.old`, old);
      expect(opened(`${path}.old`, people[0]).status).toBe(0);
    });

    test('someone who can neither read nor open a key seals nothing, and leaves its file unchanged', async (context) => {
      const { home, people, expect, place } = await withHolders(context);
      await prove(home, people);
      await home.rotate();
      await home.good('keys', 'escrow', 'update');
      const files = copiesIn(place);
      const before = files.map((path) => readFileSync(path, 'utf8'));
      for (const fingerprint of (await home.vault()).keys()) await forget(home, fingerprint);
      const third = holder(join(home.folder, 'people'), 'cy');
      const added = await home.run('keys', 'escrow', 'add', third.recipient);
      expect(added.code, added.stdout).toBe(1);
      expect(added.stdout).toContain('NOT sealed');
      expect(files.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
    });

    test('a holder without a store answers a challenge, and a wrong answer proves nothing', async (context) => {
      const { home, people, expect } = await withHolders(context);
      const challenge = join(home.folder, 'challenge.txt');
      writeFileSync(challenge, (await home.good('keys', 'escrow', 'prove', '--ask', 'H1')).trim());
      const byAge = spawnSync('age', ['--decrypt', '--identity', people[0].file, challenge], {
        encoding: 'utf8',
      });
      const answered = await home.good(
        'keys',
        'escrow',
        'prove',
        '--open',
        challenge,
        '--identity',
        people[0].file,
      );
      expect(answered.trim()).toBe(byAge.stdout.trim());
      const wrong = await home.run('keys', 'escrow', 'prove', '--answer', `${answered.trim()}0`);
      expect(wrong.code, wrong.stderr).toBe(2);
      expect((await home.run('keys', 'escrow', 'check')).stdout).toContain('H1: NEVER shown');
      await home.good('keys', 'escrow', 'prove', '--answer', answered.trim());
      expect((await home.run('keys', 'escrow', 'check')).stdout).toContain('H1: opened a challenge');
    });

    test('a colleague who resumes a run is not asked for a key that their own identity opens', async (context) => {
      const { home, people, expect } = await withHolders(context);
      const { recipient } = JSON.parse(await home.good('keys', 'identity', '--json')) as {
        recipient: string;
      };
      await prove(home, people);
      await home.good('keys', 'escrow', 'add', recipient);
      // No backup can be made, so that the run stops with a key that nothing has proven.
      const no = { work: false, answer: { status: 422, body: { error: 'invalid', description: 'no' } } };
      atCall.set(home.server, ({ method }) => (method === 'POST' ? no : undefined));
      const left = await home.run(
        'run',
        'rotate-key',
        '--instance',
        'orders',
        '--yes',
        '--confirm',
        'orders',
      );
      atCall.delete(home.server);
      const held = await home.vault();
      const [fresh = ''] = (await home.entries('instance/orders')).flatMap(({ type, body }) =>
        type === 'key.pending' ? [(body as { fingerprint: string }).fingerprint] : [],
      );
      expect(held.has(fresh), left.stderr).toBe(true);
      await forget(home, fresh);
      const resumed = await home.run('resume', ...ANSWERED);
      expect(resumed.stderr).toContain(`key ${fresh} of orders was taken from escrow`);
      expect((await home.vault()).get(fresh)).toBe(held.get(fresh));
    });
  });

  function keyFile({ folder }: TestBench, key: string): string {
    const path = join(folder, 'key-to-check');
    writeFileSync(path, key, { mode: 0o600 });
    return path;
  }

  async function forget(home: TestBench, fingerprint: string): Promise<void> {
    await (await openKeys(home.home)).remove('orders', fingerprint);
  }
});
