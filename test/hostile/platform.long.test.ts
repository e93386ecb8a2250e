import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { show } from '../../src/base/text.ts';
import { isTypeable } from '../../src/view/fallback/shell-text.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { personAt } from '../bench-kit/person.ts';
import {
  type PlatformBench,
  type PlatformBenchOptions,
  usePlatformBenches,
} from '../bench-kit/platform-bench.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { actingIn, foreignIn } from './acting.ts';
import { families, MARK } from './corpus.ts';
import { count } from './figures.ts';
import { followAll } from './follow-hostile.ts';
import { strangeIn } from './html.ts';
import { expectCalm, expectJson } from './judges.ts';
import { hostileLand, hostileMishaps, installHostileCf } from './land.ts';
import { activeIn } from './markdown.ts';
import { runIdsIn } from './run-ids.ts';

/*
 * A Cloud Foundry whose people choose names to hurt, from its API and its tool to every place where they are
 * shown.
 */

const FAMILIES = families();
/** Two of each family, as far as they fit into a name. */
const NAMES = Object.values(FAMILIES).flatMap((texts) =>
  [texts[0], texts[texts.length >> 1]].flatMap((text) => (text === undefined ? [] : [text.slice(0, 900)])),
);
/** Enough for changes that go well and fail in each way. */
const FEW = NAMES.filter((_, at) => at % 7 === 0);
/** What can be handed to a program at all. */
const SAYABLE = FEW.filter((text) => !text.includes('\0') && !text.startsWith('-'));
/** What a shell would run. */
const SHELL = (FAMILIES['shells'] ?? []).filter((text) => text.length < 200 && !text.startsWith('-'));
/** What a tool would take for one of its options. */
const OPTIONS = ['--help', '--help HURT', '-f', '-rf', '--guid=x', '--', '-'];
const SHOWING = [['runs'], ['audit', 'show'], ['audit', 'verify'], ['followups', '--all']];
const SHOWING_IN_JSON = [
  ['runs', '--json'],
  ['audit', 'show', '--json'],
  ['followups', '--json', '--all'],
];

describe('a platform whose names are hostile', () => {
  const benchesWithPlatform = usePlatformBenches();

  async function open(
    context: Pick<TestContext, 'onTestFinished'>,
    texts: readonly string[],
    options: PlatformBenchOptions = {},
  ) {
    const bench = await benchesWithPlatform(context, { jobMs: 10, ...options });
    hostileLand(bench, texts);
    return bench;
  }

  /** Looks at a run in every way there is; `mark` is of what has to be seen. */
  async function lookEverywhere({ run, home }: PlatformBench, mark = MARK): Promise<void> {
    const [id = ''] = runIdsIn((await run('runs', '--json')).stdout);
    for (const words of SHOWING) expectCalm(await run(...words), words.join(' '));
    for (const words of SHOWING_IN_JSON) expectJson(await run(...words), words.join(' '));
    const listed = await run('followups');
    expectCalm(listed, 'followups');
    expect(listed.stdout).toContain(mark);
    const markdown = await run('report', id);
    expectCalm(markdown, 'report');
    expect(markdown.stdout).toContain(mark);
    expect(activeIn(markdown.stdout)).toEqual([]);
    const html = await run('report', id, '--format', 'html');
    expectCalm(html, 'report --format html');
    expect(strangeIn(html.stdout)).toEqual([]);
    expectJson(await run('report', id, '--format', 'json'), 'report --format json');
    for (const name of readdirSync(join(home, 'fallback')))
      expect(actingIn(readFileSync(join(home, 'fallback', name), 'utf8'))).toBe('');
  }

  test('has no effect in lines, records, reports, fallback scripts or follow-ups, though its changes fail in hostile words', {
    timeout: 1_800_000,
  }, async (context) => {
    const bench = await open(context, FEW, { mishap: hostileMishaps(NAMES) });
    const end = await bench.restore('--json');
    expect(end.code, end.stderr).toBe(3);
    expect(bench.asked().length).toBeGreaterThan(20);
    expectJson(end, 'run --json');
    await lookEverywhere(bench);
    expectCalm(await bench.run('resume', '--yes'), 'resume');
    count('texts', { 'names of a platform': FEW.length });
  });

  test('has no effect through the cf tool either, whatever the tool prints instead of a token', {
    timeout: 1_800_000,
  }, async (context) => {
    const bench = await open(context, SAYABLE.slice(0, 2));
    installHostileCf(bench, FEW.join('\n'));
    const end = await bench.restore();
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain('which are bound is not known');
    expectCalm(end, 'run');
    await lookEverywhere(bench, 'which are bound is not known');
  });

  test.skipIf(!hasTerminal())(
    'has no effect on the screen of a run, its log, its fallback script or its help',
    {
      timeout: 1_200_000,
    },
    async (context) => {
      const bench = await open(context, FEW.slice(0, 4), { mishap: hostileMishaps(NAMES) });
      expect((await bench.restore()).code).toBe(3);
      const screen = personAt(openTerminal(bench.product, bench, ['resume']), expect);
      context.onTestFinished(() => screen.close());
      await screen.asks(/[0-9]+ follow-ups?/u);
      for (const key of ['l', 'l', 's', 's', '?', '?', '\t', '\t']) {
        const before = screen.bytes().length;
        screen.type(key);
        await expect.poll(() => screen.bytes().length, { timeout: 100_000 }).toBeGreaterThan(before);
      }
      expect(screen.text()).toContain(MARK);
      screen.type('\u0003');
      await screen.asks('the run stays open');
      screen.type('\u0003');
      await screen.shows('rc=130');
      expect(foreignIn(screen.bytes())).toEqual([]);
      for (const words of [['followups'], ['audit', 'show'], ['runs']]) {
        const terminal = personAt(openTerminal(bench.product, bench, words), expect);
        context.onTestFinished(() => terminal.close());
        await terminal.shows('after');
        expect(foreignIn(terminal.bytes()), words.join(' ')).toEqual([]);
      }
    },
  );

  test('is one word of the shell in the fallback script: bash runs none of it, and cf gets each name whole', {
    timeout: 1_200_000,
  }, async (context) => {
    const bench = await open(context, [...SHELL, ...OPTIONS]);
    // Everything but the names of what is bound is plain, so that each command is about one of them.
    Object.assign(bench.orders, { name: 'orders db' });
    const backup = `${bench.server.backups[0]?.id}`;
    const left = await bench.run(
      'run',
      'restore-backup',
      '--instance',
      'orders',
      '--backup',
      backup,
      '--yes',
    );
    expect(left.code, left.stderr).toBe(3);
    const [name = ''] = readdirSync(join(bench.home, 'fallback'));
    const fallback = readFileSync(join(bench.home, 'fallback', name), 'utf8');
    const { cf, screen, folder } = await followAll(fallback, { folder: bench.folder, token: CANARIES.token });
    expect(screen).toContain('That was the last step.');
    expect(actingIn(screen)).toBe('');
    expect(readdirSync(folder).toSorted()).toEqual(['bin', 'cf.log', 'fallback.sh']);
    const about = (command: string, at: number) =>
      cf.flatMap((words) => (words[0] === command ? [words[at] ?? ''] : []));
    for (const [command, at] of [
      ['unbind-service', 1],
      ['bind-service', 1],
      ['create-service-key', 2],
    ] as const)
      for (const text of SHELL) {
        if (isTypeable(text)) expect(about(command, at), text).toContain(text);
        // What can only be shown in another form would be the name of another thing.
        else expect(about(command, at), text).not.toContain(show(text, 1_000));
      }
    for (const words of cf.filter(([command]) => command?.endsWith('-service') || command?.endsWith('-key')))
      expect(words.slice(1, 3).filter((word) => word.startsWith('-'))).toEqual([]);
    for (const text of OPTIONS) expect(screen).toContain(`cf unbind-service ${text} orders db`);
    count('texts', { 'names of a platform': SHELL.length + OPTIONS.length });
  });
});
