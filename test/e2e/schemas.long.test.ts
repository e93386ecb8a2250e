import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { pathOf } from '../../src/cli/help-texts.ts';
import { commandLine, withAllBelow } from '../../src/cli/program.ts';
import type { SchemaName } from '../../src/cli/schemas/index.ts';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { Ended } from '../bench-kit/product.ts';
import { itemsIn, schemasIn } from '../bench-kit/results.ts';
import { ANSWERED, ROTATE, useQuickBenches } from '../bench-kit/test-bench.ts';
import { hasPast } from './flows.ts';

/*
 * Every command is run with `-o json` and held against its schema: here, or in the suite that sets up what it
 * needs. `runProduct` holds what every other test prints as well.
 */

/** The commands that are tried elsewhere, and where. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  drill: 'drill.long.test.ts',
  init: 'init.test.ts',
  'store init': 'store.long.test.ts',
  'store migrate': 'store.long.test.ts',
  'store copy': 'store.long.test.ts',
  'store endorse': 'store.long.test.ts',
};

const SURE = ['--confirm', 'orders'] as const;
interface Recipient {
  readonly recipient: string;
}

/** Of an identity that nobody here has. */
const ANOTHER = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** The commands that the scenes below have run. */
const tried = new Set<string>();

/** Runs a command with `-o json`; gives what it printed, and which schemas that names. */
async function printed(run: (...args: string[]) => Promise<Ended>, ...args: string[]) {
  const ended = await run(...args, '-o', 'json');
  tried.add(NAMES.find((name) => `${args.join(' ')} `.startsWith(`${name} `)) ?? args.join(' '));
  return { ...ended, names: [...new Set(schemasIn(ended.stdout))] };
}

const COMMANDS = withAllBelow(commandLine('0.0.0'))
  .filter((command) => command.options.some(({ long }) => long === '--output'))
  .filter((command) => command.registeredArguments.length > 0 || command.commands.length === 0);
const nameOf = (command: (typeof COMMANDS)[number]) => pathOf(command).replace('lifeboat ', '');

/** A plan that waits for nobody. */
const PEOPLE = `plan: people
groups: [{ id: people, for: { instances: [orders] }, steps: [{ id: look, manual: { do: look } }] }]
`;

const PLAN = `plan: west
groups:
  - id: tell
    steps: [{ id: tell, command: { argv: [/bin/echo, told], kind: repeatable } }]
`;

/** The commands that read something of one instance, and need no more than its name. */
const READS = COMMANDS.filter(
  ({ options, registeredArguments: [first, ...more] }) =>
    first?.name() === 'instance' &&
    more.length === 0 &&
    options.some(({ long }) => long === '--token-file') &&
    !options.some(({ long, mandatory }) => mandatory || long === '--yes'),
).map(nameOf);

const NAMES = COMMANDS.map(nameOf)
  .concat('followups')
  .toSorted((one, other) => other.length - one.length);

describe('a command with -o json prints what its schema says:', () => {
  const bench = useQuickBenches();

  test('reading', { timeout: 1_200_000 }, async (context) => {
    const { run, folder, env } = await bench(context, { taskMs: 20 });
    appendFileSync(env['LIFEBOAT_CONFIG'] ?? '', `notify: [{ name: file, command: 'cat > /dev/null' }]\n`);
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    await Promise.all([
      prints(['version'], 'version'),
      prints(['schemas'], 'schema'),
      prints(['doctor'], 'doctor'),
      prints(['scenarios'], 'lab', '--scenario', 'list'),
      prints(['runs'], 'runs'),
      prints(['followups'], 'followups'),
      prints(['followups'], 'followups', 'list'),
      prints(['calls'], 'runs', '--in-doubt'),
      prints(['approvals'], 'approvals'),
      prints(['keys'], 'keys', 'list'),
      prints(['store'], 'store', 'status'),
      prints(['backups'], 'backups', 'list', 'orders'),
      prints(['backup'], 'backups', 'get', '900041', '-i', 'orders'),
      prints(['restores'], 'restores', 'list', 'orders'),
      prints(['backup-config'], 'backup-config', 'get', 'orders'),
      prints(['instance'], 'instance', 'show', 'orders'),
      prints(['metrics'], 'metrics', 'orders'),
      prints(['pitr'], 'pitr', 'show', 'orders'),
      prints(['dry-run'], 'run', 'rotate-key', 'orders', '--dry-run'),
      prints(['status'], 'status'),
      prints(['evaluations'], 'plans', 'evaluate'),
      prints(['prune'], 'prune', '--older-than', '90d'),
    ]);
    for (const name of READS.filter((one) => !tried.has(one)))
      expect((await printed(run, ...name.split(' '), 'orders')).names, name).toHaveLength(1);
    await prints(['notify-send'], 'notify', 'send');
    await prints(['notify-test'], 'notify', 'test');
    const file = join(folder, 'backup');
    await prints(['download'], 'backups', 'download', '900041', '-i', 'orders', '--out', file);
    await prints(['verify'], 'verify', file, '-i', 'orders');
    writeFileSync(file, 'no backup');
    await prints(['verify'], 'verify', file, '-i', 'orders');
    for (const key of ['oldKey', 'givenKey'] as const) {
      writeFileSync(join(folder, key), CANARIES[key], { mode: 0o600 });
      await prints(['key'], 'keys', 'add', 'orders', '--check', '--file', join(folder, key));
    }
    await prints(['key'], 'keys', 'add', 'orders', '--file', join(folder, 'givenKey'));
    await prints(['key'], 'keys', 'add', 'orders', '--token', '--file', join(folder, 'givenKey'));
  });

  test('the keys and their holders', { timeout: 1_200_000 }, async (context) => {
    const { run, folder, env } = await bench(context, { taskMs: 20 });
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    await prints(['identity'], 'keys', 'identity');
    const { recipient } = JSON.parse((await run('keys', 'identity', '--json')).stdout) as Recipient;
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const escrow = `keys: { escrow: { recipients: [${recipient}], atLeast: 1, places: [./escrow, store] } }\n`;
    writeFileSync(config, `${escrow}${readFileSync(config, 'utf8')}`);
    await prints(['escrow-proof'], 'keys', 'escrow', 'prove');
    await prints(['escrow-update'], 'keys', 'escrow', 'update');
    await prints(['escrow'], 'keys', 'escrow', 'check');
    await prints(['escrow-open'], 'keys', 'escrow', 'open', '--from', join(folder, 'escrow'));
    await prints(['escrow-update'], 'keys', 'escrow', 'add', ANOTHER, '--name', 'another');
    await prints(['escrow-update'], 'keys', 'escrow', 'remove', 'another');
    const words = join(folder, 'words');
    writeFileSync(words, 'a passphrase of words', { mode: 0o600 });
    const file = join(folder, 'keys.age');
    await prints(['key-file'], 'keys', 'export', file, '--passphrase-file', words);
    await prints(['keys-stored'], 'keys', 'import', file, '--passphrase-file', words);
    await prints(['key-shares'], 'keys', 'split', '--out', join(folder, 'shares'));
    const shares = [1, 2, 3].map((number) => join(folder, 'shares', `share-${number}.txt`));
    await prints(['keys-stored'], 'keys', 'join', join(folder, 'shares', 'keys.age'), ...shares);
    await prints(['epochs'], 'keys', 'show', 'orders');
    await prints(['fits'], 'keys', 'fit', 'orders');
    const [key] = itemsIn<{ fingerprint: string }>((await run('keys', 'list', 'orders', '--json')).stdout);
    const old = key?.fingerprint ?? '';
    await run(...ROTATE, ...ANSWERED);
    await prints(['may-destroy'], 'keys', 'may-destroy', old, '-i', 'orders');
    await prints(['key-end'], 'keys', 'retire', old, '-i', 'orders', '--reason', 'a test');
    const force = ['--force', '--because', 'a test'];
    await prints(['key-end'], 'keys', 'destroy', old, '-i', 'orders', '--confirm', old, ...force);
    await prints(['passphrase'], 'keys', 'passphrase', '--new-file', words);
  });

  test('the run of a plan and its record', { timeout: 1_200_000 }, async (context) => {
    const { run, folder, env } = await bench(context, { taskMs: 20 });
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    const plans = join(dirname(env['LIFEBOAT_CONFIG'] ?? ''), 'plans');
    mkdirSync(plans);
    writeFileSync(join(plans, 'west.yaml'), PLAN, { mode: 0o600 });
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const text = readFileSync(config, 'utf8').replace('  orders-dr:\n', '  orders-dr:\n    role: target\n');
    writeFileSync(config, text);
    await prints(['plan-file'], 'plans', 'init', 'first');
    await prints(['plans'], 'plans', 'list');
    await prints(['schedules'], 'schedules');
    await prints(['workers'], 'workers');
    await prints(['plan-check'], 'plans', 'check', 'west');
    await prints(['plan-run'], 'plans', 'run', 'west');
    await prints(['plan-run'], 'plans', 'run', 'west');
    await prints(['plan-run'], 'plans', 'show', 'last');
    writeFileSync(join(plans, 'people.yaml'), PEOPLE, { mode: 0o600 });
    await run('plans', 'run', 'people');
    const reason = ['--reason', 'a test'];
    await prints(['plan-decision'], 'plans', 'pause', 'last', 'people', ...reason);
    await prints(['plan-decision'], 'plans', 'resume', 'last', 'people');
    await prints(['plan-decision'], 'plans', 'source', 'last', 'down');
    await prints(['plan-decision'], 'plans', 'take-out', 'last', 'people/orders', ...reason);
    await prints(['plan-decision'], 'plans', 'take-up', 'last', 'people/orders');
    await prints(['plan-decision'], 'plans', 'retry', 'last', 'people/orders/look');
    await prints(['plan-decision'], 'plans', 'skip', 'last', 'people/orders/look', ...reason);
    await prints(
      ['plan-decision'],
      'plans',
      'done',
      'last',
      'people/orders/look',
      '--proof',
      'seen by a test',
    );
    await prints(['plan-decision'], 'plans', 'stop', 'last', ...reason);
    const found = itemsIn<{ runId: string; runbook: string }>((await run('runs', '--json')).stdout);
    const [first = '', second = ''] = found.flatMap(({ runId, runbook }) =>
      runbook === 'plan' ? [runId] : [],
    );
    await prints(['plan-report'], 'report', first);
    await prints(['comparison'], 'report', '--compare', first, second);
    await prints(['estate'], 'report', '--all');
    await prints(['plan-fallback'], 'plans', 'fallback', first, '--out', join(folder, 'rest'));
  });

  test('a run and its record', { timeout: 1_200_000 }, async (context) => {
    const { run, folder, env, server } = await bench(context, { taskMs: 20 });
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const apps = '    apps: [{ name: shop }, { name: desk }]';
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replace('  orders:\n    apps: []\n', `  orders:\n${apps}\n`),
    );
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    await prints(['entry'], ...ROTATE);
    await prints(['entry'], 'resume', ...ANSWERED);
    await prints(['entry'], ...ROTATE, ...ANSWERED);
    const [first = '', second = ''] = itemsIn<{ runId: string }>((await run('runs', '--json')).stdout).map(
      ({ runId }) => runId,
    );
    await prints(['entry'], 'watch', 'last');
    await prints(['report'], 'report', 'last');
    await prints(['comparison'], 'report', first, second, '--compare');
    await prints(['entry'], 'audit', 'show', 'last');
    await prints(['audit'], 'audit', 'verify');
    await prints(['anchor'], 'audit', 'anchor');
    await prints(['audit-key'], 'audit', 'key');
    await prints(['export'], 'audit', 'export', 'last', '--out', join(folder, 'bundle.tar'));
    await run('plans', 'evaluate');
    await prints(['evaluation-receipt'], 'receipt', '--evaluation', '--out', join(folder, 'evaluation'));
    await prints(['receipt'], 'receipt', 'last', '--out', join(folder, 'receipt'));
    await prints(['evidence-pack'], 'evidence', '--out', join(folder, 'evidence'));
    await prints(['loss'], 'audit', 'accept-loss', '--reason', 'a test');
    const newest = String(Math.max(...server.backups.map(({ id }) => id)));
    await prints(['entry'], 'run', 'restore-backup', 'orders', '--backup', newest, ...ANSWERED);
    const open = itemsIn<{ id: string; runId?: string }>((await run('followups', '--json')).stdout);
    const [one, other] = open.filter(({ runId }) => runId !== undefined).map(({ id }) => id);
    await prints(['entry'], 'followups', 'done', one ?? '', '--proof', 'seen');
    await prints(['entry'], 'followups', 'run', other ?? '');
    await prints(['abandoned'], 'resume', '--abandon', 'a test');
    await prints(['followup'], 'followups', 'skip', 'last', '--reason', 'a test');
  });

  test('changing', { timeout: 1_200_000 }, async (context) => {
    let isLosing = false;
    const opened = await bench(context, {
      taskMs: 20,
      trouble: ({ method }) => (isLosing && method === 'PATCH' ? { work: false, answer: 'lost' } : undefined),
    });
    const { run } = opened;
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    await prints(['change'], 'backups', 'create', 'orders', '--yes');
    await prints(['backup'], 'backups', 'create', 'orders', '--yes', '--wait');
    const alone = ['--no-follow-ups', 'a test'];
    await prints(['restore'], 'backups', 'restore', '900041', '-i', 'orders', ...SURE, '--wait', ...alone);
    const [restore] = opened.server.instance('orders').restores;
    await prints(['restore'], 'restores', 'get', String(restore?.id), '-i', 'orders');
    await prints(['change'], 'backup-config', 'set', 'orders', '--retention-time', '5', '--yes');
    await prints(['change'], 'backup-config', 'set', 'orders', '--new-key', ...SURE);
    await prints(['change'], 'instance', 'restart', 'orders', '--yes');
    await prints(['instance'], 'instance', 'recreate', 'orders', ...SURE, '--wait');
    const prepared = await printed(run, 'dr', 'prepare', 'orders', '--yes');
    const { backupGuid } = JSON.parse(prepared.stdout) as { backupGuid: string };
    const into = ['dr', 'perform', 'orders-dr', '--backup-guid', backupGuid, '--source', 'orders'];
    const key = itemsIn<{ fingerprint: string }>((await run('keys', 'list', 'orders', '--json')).stdout)[0];
    await prints(['change'], ...into, '--key', key?.fingerprint ?? '', '--confirm', 'orders-dr', ...alone);
    await hasPast(opened);
    const then = new Date(Date.now() - 3_000).toISOString();
    await prints(['change'], 'pitr', 'restore', 'orders', '--to', then, ...SURE, ...alone);
    await prints(['change'], 'instance', 'update', 'orders', '--yes', '--anyway', 'a test');
    isLosing = true;
    await prints([], 'instance', 'restart', 'orders', '--yes', '--anyway', 'a test');
    const decided = ['--became', 'nothing', '--reason', 'a test'];
    await prints([], 'resume', 'last', '--look');
    await prints(['call'], 'resume', 'last', ...decided);
  });

  test('the setting of revision 61', async (context) => {
    const { run } = await bench(context, { revision: 61 });
    const set = ['instance', 'settings', 'orders', '--allow-updates', 'false', '--yes'];
    const { names, stderr } = await printed(run, ...set);
    context.expect(names, stderr).toEqual(['change']);
  });

  test('what two people do', async (context) => {
    const { run, request, folder, ada } = await withApprovals(bench, context);
    const prints = async (names: readonly SchemaName[], ...args: string[]) => {
      const { names: found, stderr } = await printed(run, ...args);
      context.expect([args, found], stderr).toEqual([args, names]);
    };
    await run(...ROTATE, ...ANSWERED);
    const { run: id, file, text } = await request();
    await prints(['approvals'], 'approvals', 'last');
    await prints(['signature'], 'approve', file, '--out', join(folder, 'own.sig'), '--confirm', 'orders');
    await prints(['signer'], 'approve', '--print-key', 'ada@example.com');
    writeFileSync(join(folder, 'ada.sig'), ada.sign(text));
    await prints(['approval'], 'approvals', 'accept', id, join(folder, 'ada.sig'));
    await prints(['withdrawal'], 'approvals', 'withdraw', id, '--reason', 'a test');
  });

  test('and no command is left out', () => {
    const missing = NAMES.filter((name) => !tried.has(name) && !Object.hasOwn(ELSEWHERE, name));
    expect(missing).toEqual([]);
    for (const file of Object.values(ELSEWHERE))
      expect(existsSync(join(import.meta.dirname, file))).toBe(true);
  });
});

describe('-o yaml', () => {
  const bench = useQuickBenches();

  test('prints the same as -o json', async (context) => {
    const { run } = await bench(context);
    for (const words of [['backups', 'list', 'orders'], ['keys', 'list'], ['version']]) {
      const [json, yaml] = await Promise.all([run(...words, '-o', 'json'), run(...words, '-o', 'yaml')]);
      context.expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout));
    }
  });
});
