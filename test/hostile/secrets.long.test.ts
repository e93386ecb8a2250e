import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, type TestContext, test } from 'vitest';
import { makeIdentity } from '../../src/keys/identity.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { PARAMETER, usePlatformBenches } from '../bench-kit/platform-bench.ts';
import type { Ended } from '../bench-kit/product.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { CASES } from '../e2e/flows.ts';
import { lookedAfter } from './looked-after.ts';
import { piecesIn } from './pieces.ts';
import { tellAll } from './telling.ts';
import { withHeaders } from './twist.ts';

/** A session of the dashboard address, as V0 hands them out. */
const COOKIE = 'sess-Hy4nWq8sKz2mVb6c';
/** A password that programs get by their environment. */
const DATABASE = 'Zq5mTn8wRk1vXc7d';
/** The passphrase of a key file. */
const EXPORTED = 'six words-Tp9xLm4kQr7s-of a file';
const hasProc = existsSync('/proc/self/environ');

/** Every flow, and the commands that are none. What stands for a name is filled in when it is known. */
const FLOWS = [
  ...CASES.filter(({ revision }) => revision === 62),
  { name: 'rotate-key', revision: 62, args: () => ['rotate-key', '--instance', 'orders'], confirm: 'orders' },
].map((flow) => [flow.name, flow] as const);

const COMMANDS: readonly (readonly string[])[] = [
  ['backup-config', 'set', '--new-key', '--yes', '--confirm', 'orders'],
  ['backup-config', 'set', '--key-file', 'given', '--yes', '--confirm', 'orders'],
  ['dr', 'prepare', '--new-key', '--yes', '--confirm', 'orders'],
  ['backups', 'create', '--yes', '--wait'],
  ['backups', 'restore', 'NEWEST', '--yes', '--confirm', 'orders', '--wait'],
  ['instance', 'restart', '--yes', '--confirm', 'orders'],
];

describe.skipIf(!hasProc)('no secret is anywhere but where it belongs', () => {
  const benches = useBenches();
  const benchesWithPlatform = usePlatformBenches();
  // Empty at first, so that the compiled code of every command is written while there are secrets. Each test
  // looks into all of it.
  const compiled = mkdtempSync(join(tmpdir(), 'lifeboat-compiled-'));
  afterAll(() => rmSync(compiled, { recursive: true }));

  async function openBench(context: Pick<TestContext, 'onTestFinished'>) {
    const bench = await benches(context, {
      tokenSource: '{ env: LIFEBOAT_TEST_TOKEN }',
      taskMs: 40,
      twist: (_, answer) =>
        'headers' in answer && 'set-cookie' in answer.headers
          ? answer
          : withHeaders(answer, {
              'content-type': 'application/json',
              'set-cookie': `more=${COOKIE}; Path=/`,
            }),
    });
    symlinkSync(compiled, join(bench.folder, 'compiled'));
    Object.assign(bench.env, { NODE_COMPILE_CACHE: compiled, LIFEBOAT_TEST_TOKEN: CANARIES.token });
    return bench;
  }

  test.for(FLOWS)('after %s and all its reports', { timeout: 3_000_000 }, async ([, flow], context) => {
    const bench = await openBench(context);
    const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, COOKIE];
    await lookedAfter(bench, secrets, async (run) => {
      const before = 'before' in flow ? (flow.before ?? []) : [];
      for (const words of before) await run(...words);
      if ('ready' in flow) await flow.ready?.({ ...bench, run });
      const end = await run('run', ...flow.args(bench), '--yes', '--confirm', flow.confirm, '--json');
      expect([0, 3], end.stderr).toContain(end.code);
      await tellAll(run);
    });
  });

  test('after the commands that make one change, and after their refusals', {
    timeout: 1_200_000,
  }, async (context) => {
    const bench = await openBench(context);
    const given = join(bench.folder, 'given');
    writeFileSync(given, `${CANARIES.givenKey}\n`, { mode: 0o600 });
    const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, CANARIES.givenKey, COOKIE];
    await lookedAfter(bench, secrets, async (run) => {
      for (const words of COMMANDS) {
        const newest = `${bench.server.backups[0]?.id}`;
        const args = words.map((word) => (word === 'NEWEST' ? newest : word === 'given' ? given : word));
        const { code, stderr } = await run(...args, '--instance', 'orders');
        expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
      }
      const download = ['backups', 'download', `${bench.server.backups[0]?.id}`, '--instance', 'orders'];
      await run(...download, '--out', join(bench.folder, 'tmp/b.enc'));
      rmSync(join(bench.folder, 'tmp/b.enc'), { force: true });
      bench.server.acceptOnly('another');
      expect((await run('backups', 'list', '--instance', 'orders')).code).toBe(4);
    });
  });

  test('after the commands about keys: sealed copies, key files and shares hold none', {
    timeout: 1_200_000,
  }, async (context) => {
    const bench = await openBench(context);
    const { identity, recipient } = await makeIdentity((await openKeys(bench.home)).store);
    const config = bench.env['LIFEBOAT_CONFIG'] ?? '';
    const escrow = `keys: { escrow: { recipients: [${recipient}], atLeast: 1, places: [./home/escrow, store] } }`;
    writeFileSync(config, `${escrow}\n${readFileSync(config, 'utf8')}`);
    const words = join(bench.folder, 'words');
    writeFileSync(words, `${EXPORTED}\n`, { mode: 0o600 });
    const [file, shares] = [join(bench.home, 'keys.age'), join(bench.home, 'shares')];
    const [old = ''] = (await bench.vault()).keys();
    const commands = [
      ['keys', 'escrow', 'prove'],
      ['keys', 'escrow', 'update'],
      ['run', 'rotate-key', '--instance', 'orders', '--yes', '--confirm', 'orders'],
      ['keys', 'escrow', 'check'],
      ['keys', 'escrow', 'open'],
      ['keys', 'show', 'orders'],
      ['keys', 'fit', 'orders'],
      ['keys', 'export', file, '--passphrase-file', words, '--with-identity'],
      ['keys', 'import', file, '--passphrase-file', words],
      ['keys', 'split', '--out', shares, '--paper'],
      ['keys', 'join', join(shares, 'keys.age'), ...[1, 3, 5].map((at) => join(shares, `share-${at}.html`))],
      ['keys', 'retire', old, '-i', 'orders', '--reason', 'a test'],
    ];
    const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, EXPORTED, identity.reveal()];
    await lookedAfter(bench, secrets, async (run) => {
      for (const args of commands) {
        const { code, stderr } = await run(...args);
        expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
      }
      await tellAll(run);
    });
  });

  test('after a plan whose commands and checks print what they find, plain and encoded', {
    timeout: 1_200_000,
  }, async (context) => {
    const bench = await openBench(context);
    const folder = join(bench.folder, 'plans');
    mkdirSync(folder, { recursive: true });
    const shell = (words: string) => `argv: [sh, -c, ${JSON.stringify(words)}]`;
    const passes = 'onFailure: continue, because: a test says so';
    const steps = [
      '{ id: all, command: { argv: [env], kind: repeatable } }',
      `{ id: traced, command: { ${shell('set -x; : "$PGPASSWORD"; exit 3')}, kind: repeatable }, ${passes} }`,
      `{ id: encoded, command: { ${shell('printf %s "x$PGPASSWORD" | base64; printf %s "$PGPASSWORD" | od -An -tx1 | tr -d " \\n"')}, kind: repeatable } }`,
      `{ id: long, command: { ${shell('printf "%0300d %s" 0 "$PGPASSWORD" >&2; exit 3')}, kind: repeatable }, ${passes} }`,
      `{ id: once, command: { ${shell('env; exit 4')}, kind: once, landed: ['false'] }, ${passes} }`,
      `{ id: rows, check: { sql: select 1, expect: { rows: ">= 1" } }, ${passes} }`,
      `{ id: asked, check: { command: [sh, -c, "env >&2; exit 1"] }, ${passes} }`,
    ];
    const group = `groups: [{ id: look, for: { instances: [orders] }, steps: [${steps.join(', ')}] }]`;
    writeFileSync(join(folder, 'spy.yaml'), `plan: spy\n${group}\n`);
    Object.assign(bench.env, { PGPASSWORD: DATABASE, PGHOST: '127.0.0.1', PGPORT: '1' });
    const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, DATABASE];
    await lookedAfter(
      bench,
      secrets,
      async (run) => {
        const end = await run('plans', 'run', 'spy', '--json');
        expect(end.code, end.stderr).toBe(1);
        await run('plans', 'show', 'last');
        await run('plans', 'evaluate', 'spy');
        await tellAll(run);
      },
      DATABASE,
    );
  });

  test.each(['its API', 'the cf tool'])(
    'after a restore that binds applications by %s',
    { timeout: 3_000_000 },
    async (way) => {
      const done: (() => unknown)[] = [];
      const context = { onTestFinished: (work: () => unknown) => void done.push(work) };
      try {
        const bench = await benchesWithPlatform(context as never);
        if (way !== 'its API') bench.installCf(true);
        const secrets = [CANARIES.token, CANARIES.otherToken, CANARIES.passphrase, PARAMETER];
        await lookedAfter(bench, secrets, async (run) => {
          const backup = `${bench.server.backups[0]?.id}`;
          const words = ['run', 'restore-backup', '--instance', 'orders', '--backup', backup];
          const end: Ended = await run(...words, '--yes', '--confirm', 'orders');
          expect(end.code, end.stderr).toBe(3);
          await tellAll(run);
        });
      } finally {
        for (const work of done.toReversed()) await work();
      }
    },
  );

  test('would be found in pieces of eight characters', () => {
    expect(piecesIn('here', `x${CANARIES.token.slice(9, 17)}y`, [CANARIES.token])).toHaveLength(1);
    expect(piecesIn('here', 'four words of nonsense', [CANARIES.passphrase])).toEqual([]);
  });
});
