import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { answerIn } from '../bench-kit/results.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { type BenchOptions, openBench } from '../bench-kit/test-bench.ts';
import { actingIn, foreignIn } from './acting.ts';
import { corpus, families } from './corpus.ts';
import { expectCalm, expectJson } from './judges.ts';
import { runIdsIn } from './run-ids.ts';
import { headersOf, hostileErrors, hostileWords, withHeaders } from './twist.ts';

/* The whole product against a service that is hostile in everything it says, in a pipe and on a terminal. */

const product = builtProduct({ cheapVault: true });

const TEXTS = corpus().filter((text) => text.length < 5_000);
/** One of each family. */
const SAMPLE = Object.values(families()).map((texts) => (texts[0] ?? '').slice(0, 5_000));
const ORDERS = ['--instance', 'orders'] as const;

async function open({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, options: BenchOptions) {
  const bench = await openBench(product, { taskMs: 40, taste: 'plain', commandsHere: true, ...options });
  onTestFinished(() => bench.close());
  /** Everything that a command writes to a terminal. */
  const onTerminal = async (...args: string[]) => {
    const terminal = openTerminal(product, bench, args);
    onTestFinished(() => terminal.close());
    await expect.poll(() => terminal.bytes(), { timeout: 300_000, interval: 20 }).toContain('$ after');
    return terminal.bytes();
  };
  return { ...bench, onTerminal };
}

describe('a thousand hostile texts in every field of an answer have no effect', () => {
  test.for([
    ['backups', 'list'],
    ['restores', 'list'],
    ['backup-config', 'get'],
    ['instance', 'show'],
    ['metrics'],
    ['pitr', 'show'],
    ['doctor'],
    ['run', 'restore-backup', '--dry-run'],
    ['run', 'rotate-key', '--dry-run'],
  ])('in `lifeboat %s %s`', { timeout: 1_200_000 }, async (words, context) => {
    const { run, onTerminal } = await open(context, { twist: hostileWords(TEXTS) });
    const command = words[0] === 'doctor' ? words : [...words, ...ORDERS];
    const about = words.join(' ');
    const piped = await run(...command);
    expectCalm(piped, about);
    if (!words.includes('--dry-run'))
      expect(piped.stdout + piped.stderr).toMatch(/HURT|range that the service reports is not valid/u);
    expectJson(await run(...command, '--json'), about);
    if (hasTerminal()) expect(foreignIn(await onTerminal(...command))).toEqual([]);
  });
});

test('the text of a refusal has no effect in any form of error or header', {
  timeout: 1_200_000,
}, async (context) => {
  let twist = hostileErrors('', 500);
  const { run, onTerminal } = await open(context, { twist: (...said) => twist(...said) });
  const statuses = [401, 403, 404, 409, 412, 422, 405, 429];
  for (const [at, text] of SAMPLE.entries()) {
    const status = statuses[at % statuses.length] ?? 500;
    twist = hostileErrors(text, status);
    const command =
      at % 2 === 0 ? ['backup-config', 'get', ...ORDERS] : ['backups', 'create', ...ORDERS, '--yes'];
    const refused = await run(...command);
    expect(refused.code, refused.stderr).not.toBe(0);
    expectCalm(refused, JSON.stringify(text.slice(0, 60)));
    if (at % 10 === 0 && hasTerminal()) expect(foreignIn(await onTerminal(...command))).toEqual([]);
  }
});

test('a hostile header is treated only as a header, not as a terminal sequence, a path or another address', {
  timeout: 1_200_000,
}, async (context) => {
  const evil = '../../evil\u009b2J\u009d0;x\u009c';
  let location: string | undefined;
  const { run, folder } = await open(context, {
    twist: (_, answer) =>
      location === undefined
        ? withHeaders(answer, { ...headersOf(evil), date: evil })
        : { status: 302, bytes: Buffer.alloc(0), headers: { location } },
  });
  const yard = join(folder, 'downloads');
  mkdirSync(yard);
  const backup = answerIn((await run('backups', 'list', ...ORDERS, '--json')).stdout)[0].id as number;
  const saved = await run('backups', 'download', String(backup), ...ORDERS, '--out', join(yard, 'b.enc'));
  expect(saved.code, saved.stderr).toBe(0);
  expectCalm(saved, 'download');
  expect(readdirSync(yard)).toEqual(['b.enc']);
  expectCalm(await run('instance', 'show', ...ORDERS), 'date');
  for (location of [
    `http://evil.example/${evil}`,
    `//${evil}`,
    'javascript:alert(1)',
    'file:///etc/passwd',
    `${evil}`,
    `data:text/html,${evil}`,
    'http://[::1',
  ]) {
    const led = await run('instance', 'show', ...ORDERS);
    expect(led.code, location).toBe(1);
    expectCalm(led, location);
    expect(led.stderr).not.toContain('does not know');
  }
});

test('a run through a hostile service leaves a record without effect, however it is shown', {
  timeout: 1_800_000,
}, async (context) => {
  const few = TEXTS.filter((text, at) => at % 13 === 0 && text.length < 500);
  const { run, home } = await open(context, { twist: hostileWords(few) });
  const ended = await run('run', 'back-up-and-verify', ...ORDERS, '--yes', '--confirm', 'orders');
  expectCalm(ended, 'run');
  const journalled = await run(
    'run',
    'back-up-and-verify',
    ...ORDERS,
    '--yes',
    '--confirm',
    'orders',
    '--json',
  );
  expectJson(journalled, 'run --json');
  const ids = runIdsIn((await run('runs', '--json')).stdout);
  expect(ids).toHaveLength(2);
  const id = ids[0] ?? '';
  for (const words of [
    ['runs'],
    ['audit', 'show'],
    ['audit', 'verify'],
    ['report', id],
    ['followups', '--all'],
    ['keys', 'list'],
  ])
    expectCalm(await run(...words), words.join(' '));
  for (const words of [
    ['runs', '--json'],
    ['audit', 'show', '--json'],
    ['followups', '--json', '--all'],
  ])
    expectJson(await run(...words), words.join(' '));
  const fallbacks = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.sh'),
  );
  for (const name of fallbacks) expect(actingIn(readFileSync(join(home, name), 'utf8'))).toBe('');
});

test.skipIf(!hasTerminal())(
  'the screen of a run lists what a hostile service has, without effect',
  { timeout: 1_200_000 },
  async (context) => {
    const few = TEXTS.filter((text, at) => at % 13 === 0 && text.length < 500);
    const bench = await open(context, { twist: hostileWords(few) });
    const terminal = openTerminal(product, bench, ['run', 'restore-backup', ...ORDERS]);
    context.onTestFinished(() => terminal.close());
    await expect
      .poll(() => terminal.text(), { timeout: 200_000, interval: 50 })
      .toMatch(/question|\?|LIVE.*❯/su);
    await expect.poll(() => terminal.text(), { timeout: 200_000, interval: 50 }).toContain('❯');
    expect(terminal.isTaken()).toBe(true);
    expect(foreignIn(terminal.bytes())).toEqual([]);
  },
);
