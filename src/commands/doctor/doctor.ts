import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { freeSpace, KEPT_FREE } from '../../activities/free-space.ts';
import { EXIT, LifeboatError, tooLongForDatabase } from '../../base/errors.ts';
import { makePrivateFolder } from '../../base/folders.ts';
import { counted, formatBytes, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { countedOn } from '../../cli/counted.ts';
import type { Action } from '../../cli/define.ts';
import { printResult } from '../../cli/print-result.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { openKeys } from '../../compose/workspace.ts';
import { homeFolder, homePath } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig, NotifyConfig } from '../../config/loaded.ts';
import type { Keyring, KeyStore } from '../../keys/key-store.ts';
import { addressOf } from '../../notify/send.ts';
import {
  DRILL_WORDS,
  drillDue,
  dueWords,
  futureDrillWords,
  isFailure,
} from '../../report/drill/drill-report.ts';
import { type KnownTarget, readGivenUp, readTargets } from '../../store/projections/outbox.ts';
import { DATABASE_FILE } from '../../store/sqlite/database.ts';
import { drillsFolder } from '../drill/drill-homes.ts';
import { knownDrills } from '../drill/drill-records.ts';
import { sentWords } from '../notify/notify.ts';
import { type LeftRuns, seeLeftRuns, seeQueue, unheld } from '../worker/workers-seen.ts';
import { approvalChecks } from './approvals.ts';
import { attempt, type Check, good, printChecks } from './check.ts';
import { fileChecks } from './files.ts';
import { homeTrouble } from './home-trouble.ts';
import { INSTANCE_MS, type Looked, lookAtInstance, proxyChecks, tlsChecks } from './instance.ts';
import { keptLists } from './kept-lists.ts';
import { keyringChecks, keysHeld } from './keys-held.ts';
import { placeChecks } from './places.ts';
import { storeRightsChecks } from './store-rights.ts';
import { surroundings } from './surroundings.ts';

const LITTLE_ROOM = 1024 ** 3;

/**
 * `lifeboat doctor`: checks everything a recovery depends on, before it is needed. Writes nothing but a probe
 * into the key store, and with `--rebuild` the lists derived from the journal; sends nothing but GETs. Exit 0
 * when nothing is bad, 4 when only credentials are, 1 otherwise.
 */
export const doctor: Action<{ readonly deep?: boolean; readonly rebuild?: boolean }> = async (
  context,
  _,
  flags,
) => {
  const checks: Check[] = [node(), ...tlsChecks(context.env), await homeRoom(context.env)];
  const { check: keyCheck, keyring } = await keyStore(context);
  checks.push(keyCheck);
  if (keyring !== undefined) checks.push(...(await keyringChecks(context.env, keyring.store)));
  checks.push(await labEngine());
  if (flags.deep) checks.push(...(await keptLists(context, keyring, flags.rebuild ?? false)));
  const config = await attempt('config', () => loadConfig(context.env, context.configPath));
  if ('check' in config) checks.push(config.check);
  else checks.push(...(await configChecks(context, config.value, keyring, flags.deep ?? false)));
  await printResult(context, 'doctor', { items: checks }, () => printChecks(context, checks));
  const bad = checks.filter((check) => check.state === 'bad');
  if (bad.length === 0) return EXIT.closed;
  return bad.every((check) => check.credentials) ? EXIT.credentials : EXIT.failed;
};

function node(): Check {
  return good('node', `Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'missing'}`);
}

async function homeRoom(env: NodeJS.ProcessEnv): Promise<Check> {
  const home = homePath(env);
  const trouble = await homeTrouble(home);
  if (trouble !== undefined) return { what: 'home', state: 'bad', found: trouble.text, hints: trouble.hints };
  const found = await attempt('home', async () => {
    homeFolder(env);
    makePrivateFolder(home);
    await access(home, constants.W_OK);
    const database = join(home, DATABASE_FILE);
    const long = tooLongForDatabase(database);
    if (long !== undefined) throw new LifeboatError('journal.home', `${show(database, 120)}: ${long}`);
    return { free: await freeSpace(home) };
  });
  if ('check' in found) return found.check;
  const { free } = found.value;
  if (free === undefined) return good('home', `${home}, its file system does not say how much is free`);
  const text = `${home}, ${formatBytes(free)} free`;
  if (free >= LITTLE_ROOM) return good('home', text);
  const hint = `backups are downloaded there, and ${formatBytes(KEPT_FREE)} stay free for the journal: make room`;
  return { what: 'home', state: 'warn', found: text, hints: [hint] };
}

async function keyStore(context: CommandContext): Promise<{ check: Check; keyring: Keyring | undefined }> {
  const found = await attempt('key store', () => openKeys(context, 'check'));
  if ('check' in found) return { check: found.check, keyring: undefined };
  const { description } = found.value.store;
  return {
    check: good('key store', `${description}: written, read and removed a probe`),
    keyring: found.value,
  };
}

async function labEngine(): Promise<Check> {
  const { locatePostgres } = await import('../../lab/engine/locate-postgres.ts');
  const found = await attempt('lab', async () => locatePostgres());
  if ('check' in found) return { ...found.check, state: 'warn' };
  return good('lab', 'PostgreSQL is here: `lifeboat drill` can run');
}

async function configChecks(
  context: CommandContext,
  config: LoadedConfig,
  keyring: Keyring | undefined,
  deep: boolean,
): Promise<Check[]> {
  const names = Object.keys(config.instances);
  const head = good('config', `${config.path}, ${counted(names.length, 'instance')}`);
  const found = await lookAtAll(context, config, keyring?.store);
  const isTarget = (name: string) => config.instances[name]?.role === 'target';
  const held =
    keyring === undefined ? [] : await keysHeld(context, listedOf(names, found), keyring, isTarget);
  return [
    head,
    ...(await fileChecks(context.env, config)),
    ...(await storeRightsChecks(context)),
    ...(await placeChecks(context, config, keyring, deep)),
    ...proxyChecks(config),
    ...found.flatMap(({ checks }) => checks),
    ...held,
    ...(await surroundings(context, config)),
    ...(await approvalChecks(config)),
    ...(await drillChecks(context.env, config)),
    ...(await scheduleChecks(config)),
    ...(await notifyChecks(context, config)),
    ...(await workerChecks(context)),
  ];
}

const AT_ONCE = 16;

/** Several instances at the same time, each within its time limit, in the order of the config. */
async function lookAtAll(
  context: CommandContext,
  config: LoadedConfig,
  store: KeyStore | undefined,
): Promise<readonly Looked[]> {
  const names = Object.keys(config.instances);
  const progress = countedOn(
    context,
    (done) => `asked ${done} of ${names.length}, each for at most ${INSTANCE_MS / 1000} s`,
  );
  const waiting = [...names.entries()];
  const found: Looked[] = [];
  let answered = 0;
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, name] = next;
      found[at] = await lookAtInstance(config, name, store);
      answered += 1;
      progress.count(answered);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  } finally {
    progress.end();
  }
  return found;
}

function listedOf(names: readonly string[], found: readonly Looked[]) {
  return names.map((name, at) => [name, found[at]?.backups] as const);
}

/** Whether a drill is due, and how the last one ended; empty if the config asks for none. */
async function drillChecks(
  env: NodeJS.ProcessEnv,
  { drills }: Pick<LoadedConfig, 'drills'>,
): Promise<Check[]> {
  if (drills === undefined) return [];
  const records = await attempt('drills', async () => knownDrills(env));
  if ('check' in records) return [records.check];
  const due = drillDue(records.value, drills.every, new Date());
  const future = futureDrillWords(due);
  const failed = due.last !== undefined && isFailure(due.last) ? due.last : undefined;
  const found = [
    `next drill due: ${dueWords(due)}`,
    ...(failed === undefined ? [] : [`the last was ${DRILL_WORDS[failed.outcome]}: ${show(failed.id, 40)}`]),
    ...(future === undefined ? [] : [future]),
  ];
  const folder = show(drillsFolder(homeFolder(env)));
  const hints = [
    ...(due.isOverdue || failed !== undefined ? ['make one: `lifeboat drill --auto`'] : []),
    ...(future === undefined ? [] : [`if the clock is right now, move them out of ${folder}`]),
  ];
  return [{ what: 'drills', state: hints.length === 0 ? 'ok' : 'warn', found: found.join('; '), hints }];
}

/** Whether each schedule can be kept: with one that cannot, no worker begins. Empty without schedules. */
async function scheduleChecks({ schedules }: LoadedConfig): Promise<Check[]> {
  if (schedules.length === 0) return [];
  const { assertRecurrence } = await import('../../queue/cron.ts');
  const found = await attempt('schedules', async () => schedules.forEach(assertRecurrence));
  return ['check' in found ? found.check : good('schedules', counted(schedules.length, 'schedule'))];
}

/**
 * Whether a worker takes the runs that are left to the workers; empty if none is left. Only reads. What keeps
 * the record from being read is said by other checks.
 */
async function workerChecks(context: CommandContext): Promise<Check[]> {
  const left = await seeLeftRuns(context);
  if (!('value' in left) || left.value.count === 0) return [];
  return workersCheck(left.value, await seeQueue(context));
}

/** The check of at least one run that is left; `queue` is undefined at a home of one person. Pure. */
export function workersCheck(left: LeftRuns, queue: Awaited<ReturnType<typeof seeQueue>>): Check[] {
  const what = 'workers';
  const runs = `${counted(left.count, 'open run')} left to the workers`;
  const bad = (found: string, ...hints: readonly string[]): Check[] => [
    { what, state: 'warn', found: `${runs}, ${found}`, hints: [...hints] },
  ];
  const start = 'start one: `lifeboat worker`';
  if (queue === undefined) {
    // Only a worker at this home could have them, and it holds what it does.
    const free = unheld(left).length;
    if (free === 0) return [good(what, runs)];
    return bad(`and no process holds ${free} that may go on`, start);
  }
  if (!('value' in queue))
    return queue.code === 'queue.none'
      ? bad('and the store has no queue', 'make it: `lifeboat store init`', `then ${start}`)
      : bad(`and the queue cannot be asked: ${queue.why}`);
  const live = queue.value.workers.filter(({ state }) => state === 'live').length;
  if (live === 0) return bad('and no worker is live', start);
  return [good(what, `${runs}, ${live} live`)];
}

/** More are not counted. */
const MAX_GIVEN_UP = 1000;

/** Whether each target can be reached as configured, and the result of the last attempt. Sends nothing. */
async function notifyChecks(
  context: CommandContext,
  { notify }: Pick<LoadedConfig, 'notify'>,
): Promise<Check[]> {
  if (notify.length === 0) return [];
  const record = await attempt('notify', async () => {
    const journal = await openJournalIfAny(context);
    try {
      if (journal === undefined) return { targets: [], givenUp: 0 };
      const givenUp = (await readGivenUp(journal, MAX_GIVEN_UP)).length;
      return { targets: await readTargets(journal), givenUp };
    } finally {
      await journal?.close();
    }
  });
  if ('check' in record) return [record.check];
  const { targets, givenUp } = record.value;
  const checks = notify.map((target) =>
    targetCheck(
      target,
      targets.find(({ name }) => name === target.name),
    ),
  );
  const left: Check = {
    what: 'notify',
    state: 'warn',
    found: `${counted(givenUp, 'notification')} given up after many attempts`,
    hints: ['try them again: lifeboat notify send --all'],
  };
  return [...(await Promise.all(checks)), ...(givenUp === 0 ? [] : [left])];
}

async function targetCheck(target: NotifyConfig, known: KnownTarget | undefined): Promise<Check> {
  const what = `notify: ${target.name}`;
  const hints = [`try it: lifeboat notify test ${target.name}`];
  const found = await attempt(what, async () => ('url' in target ? addressOf(target) : undefined));
  // A recovery does not depend on it.
  if ('check' in found) return { ...found.check, state: 'warn' };
  const last = known?.last;
  if (last === undefined) return { ...good(what, 'nothing has been sent yet'), hints };
  const words = `last attempt ${formatTime(last.at)} UTC, ${sentWords(last)}`;
  return last.outcome === 'delivered' ? good(what, words) : { what, state: 'warn', found: words, hints };
}
