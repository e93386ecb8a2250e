import { existsSync, mkdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { CASES } from '../e2e/flows.ts';
import { CANARIES, type House } from '../e2e/house.ts';
import { leaksInFolder, leaksInProcesses } from '../e2e/leaks.ts';
import { watchTree } from '../e2e/process-tree.ts';
import type { Ended } from '../e2e/product.ts';
import { useHouses } from '../e2e/scene.ts';
import { PARAMETER, useStrangers } from '../e2e/stranger.ts';
import { piecesIn } from './pieces.ts';
import { withHeaders } from './twist.ts';

/** A session of the dashboard address, as V0 hands them out. */
const COOKIE = 'sess-Hy4nWq8sKz2mVb6c';
const KEPT = 'backups/bindings/';
const hasProc = existsSync('/proc/self/environ');

/** Every flow, and the commands that are none. What stands for a name is filled in when it is known. */
const FLOWS = [
  ...CASES.filter(({ revision }) => revision === 62),
  { name: 'rotate-key', revision: 62, args: () => ['rotate-key', '--instance', 'orders'], confirm: 'orders' },
].map((flow) => [flow.name, flow] as const);

const COMMANDS: readonly (readonly string[])[] = [
  ['config', 'set', '--new-key', '--yes', '--confirm', 'orders'],
  ['config', 'set', '--key-file', 'given', '--yes', '--confirm', 'orders'],
  ['dr', 'prepare', '--new-key', '--yes', '--confirm', 'orders'],
  ['backups', 'create', '--yes', '--wait'],
  ['backups', 'restore', 'NEWEST', '--yes', '--confirm', 'orders', '--wait'],
  ['instance', 'restart', '--yes', '--confirm', 'orders'],
];

describe.skipIf(!hasProc)('no secret is anywhere but where it belongs', () => {
  const houses = useHouses();
  const strangers = useStrangers();

  /** Samples what is started, and looks everywhere at the end. */
  async function lookedAfter(
    house: House,
    secrets: readonly string[],
    work: (watched: Watched) => Promise<void>,
  ) {
    const temporary = join(house.folder, 'tmp');
    mkdirSync(temporary);
    Object.assign(house.env, { TMPDIR: temporary });
    const said: string[] = [];
    const found: string[] = [];
    await work(async (...args) => {
      const running = house.start(...args);
      const watch = watchTree(running.child.pid ?? 0);
      const end = await running.ended;
      watch.stop();
      said.push(end.stdout, end.stderr);
      const own = running.child.pid;
      // Its own environment is what it was given; of what it starts, nothing may have the token.
      const others = watch.seen().map((seen) => (seen.pid === own ? { ...seen, environ: '' } : seen));
      found.push(...leaksInProcesses(others, secrets).map((leak) => `${args.join(' ')}: ${leak}`));
      return end;
    });
    const all = [...secrets, ...house.server.keys, ...(await house.vault()).values()];
    found.push(...piecesIn('the output', said.join('\n'), all));
    await rm(join(house.folder, 'home/vault.age'), { force: true });
    for (const folder of ['home', 'tmp', 'compiled'])
      if (existsSync(join(house.folder, folder)))
        found.push(...leaksInFolder(join(house.folder, folder), all));
    // What a binding was made with is kept for as long as it is to be made again, readable by its owner alone.
    const kept = found.filter((leak) => leak.startsWith(KEPT));
    for (const leak of kept) {
      const path = join(house.folder, 'home', leak.replace(/: secret .*$/u, ''));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(leak).toContain(`secret ${secrets.indexOf(PARAMETER)}`);
    }
    expect(found.filter((leak) => !kept.includes(leak))).toEqual([]);
  }

  async function openHouse(context: Pick<TestContext, 'onTestFinished'>) {
    const house = await houses(context, {
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
    Object.assign(house.env, {
      NODE_COMPILE_CACHE: join(house.folder, 'compiled'),
      LIFEBOAT_TEST_TOKEN: CANARIES.token,
    });
    return house;
  }

  test.for(FLOWS)(
    'after %s and everything that tells of it',
    { timeout: 300_000 },
    async ([, flow], context) => {
      const house = await openHouse(context);
      const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, COOKIE];
      await lookedAfter(house, secrets, async (run) => {
        const before = 'before' in flow ? (flow.before ?? []) : [];
        for (const words of before) await run(...words);
        if ('ready' in flow) await flow.ready?.({ ...house, run });
        const end = await run('run', ...flow.args(house), '--yes', '--confirm', flow.confirm, '--json');
        expect([0, 3], end.stderr).toContain(end.code);
        for (const words of [
          ['report'],
          ['audit', 'show'],
          ['audit', 'export'],
          ['audit', 'verify'],
          ['keys', 'list'],
          ['runs'],
          ['owe'],
        ])
          await run(...words);
      });
    },
  );

  test('after the commands for single calls, and after what they refuse', {
    timeout: 120_000,
  }, async (context) => {
    const house = await openHouse(context);
    const { writeFile } = await import('node:fs/promises');
    const given = join(house.folder, 'given');
    await writeFile(given, `${CANARIES.givenKey}\n`, { mode: 0o600 });
    const secrets = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey, CANARIES.givenKey, COOKIE];
    await lookedAfter(house, secrets, async (run) => {
      for (const words of COMMANDS) {
        const newest = `${house.server.backups[0]?.id}`;
        const args = words.map((word) => (word === 'NEWEST' ? newest : word === 'given' ? given : word));
        const { code, stderr } = await run(...args, '--instance', 'orders');
        expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
      }
      await run(
        'backups',
        'download',
        `${house.server.backups[0]?.id}`,
        '--instance',
        'orders',
        '--out',
        join(house.folder, 'tmp/b.enc'),
      );
      await rm(join(house.folder, 'tmp/b.enc'), { force: true });
      house.server.acceptOnly('another');
      expect((await run('backups', 'list', '--instance', 'orders')).code).toBe(4);
    });
  });

  test.each(['its API', 'the tool cf'])(
    'after a restore that binds applications by %s',
    { timeout: 300_000 },
    async (way) => {
      const done: (() => unknown)[] = [];
      const context = { onTestFinished: (work: () => unknown) => void done.push(work) };
      try {
        const house = await strangers(context as never);
        if (way !== 'its API') house.installCf(true);
        const secrets = [CANARIES.token, CANARIES.otherToken, CANARIES.passphrase, PARAMETER];
        await lookedAfter(house, secrets, async (run) => {
          const backup = `${house.server.backups[0]?.id}`;
          const words = ['run', 'restore-backup', '--instance', 'orders', '--backup', backup];
          const end: Ended = await run(...words, '--yes', '--confirm', 'orders');
          expect(end.code, end.stderr).toBe(3);
          for (const more of [['report'], ['owe'], ['audit', 'export'], ['runs']]) await run(...more);
        });
      } finally {
        for (const work of done.toReversed()) await work();
      }
    },
  );

  test('would be found in pieces of eight', () => {
    expect(piecesIn('here', `x${CANARIES.token.slice(9, 17)}y`, [CANARIES.token])).toHaveLength(1);
    expect(piecesIn('here', 'four words of nonsense', [CANARIES.passphrase])).toEqual([]);
  });
});

type Watched = (...args: string[]) => Promise<Ended>;
