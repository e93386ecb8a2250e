import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freeSpace, KEPT_FREE } from '../../activities/free-space.ts';
import { EXIT, LifeboatError, tooLongForDatabase } from '../../base/errors.ts';
import { counted, formatBytes, readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { printTable } from '../../cli/print-table.ts';
import { type OpenInstance, openInstance } from '../../compose/service-of.ts';
import { expiryOf } from '../../compose/token-expiry.ts';
import { openKeys } from '../../compose/workspace.ts';
import { homeFolder, homePath, type LoadedConfig, loadConfig } from '../../config/load.ts';
import type { Keyring, KeyStore } from '../../keys/key-store.ts';
import type { Skew } from '../../service/clock-skew.ts';
import { DATABASE_FILE } from '../../store/sqlite/database.ts';
import { runnableOn } from '../run/refuse-unsupported.ts';
import { approvalChecks } from './approvals.ts';
import { attempt, type Check, good } from './check.ts';
import { drillChecks } from './drills.ts';
import { fileChecks } from './files.ts';
import { keptLists } from './kept-lists.ts';
import { keysHeld } from './keys-held.ts';
import { notifyChecks } from './notify.ts';
import { placeChecks } from './places.ts';
import { surroundings } from './surroundings.ts';
import { tlsChecks } from './tls.ts';

const LITTLE_ROOM = 1024 ** 3;

/**
 * `lifeboat doctor`: everything a recovery leans on, looked at in peace time. Writes nothing but a probe into
 * the key store, and with `--rebuild` the lists that follow from the journal; sends nothing but GETs. Exit 0
 * when nothing is bad, 4 when only credentials are, 1 otherwise.
 */
export async function doctor(
  context: CommandContext,
  _: readonly string[],
  flags: { readonly deep?: boolean; readonly rebuild?: boolean },
): Promise<number> {
  const checks: Check[] = [node(), ...tlsChecks(context.env), await homeRoom(context.env)];
  const { check: keyCheck, keyring } = await keyStore(context);
  checks.push(keyCheck, await labEngine());
  if (flags.deep) checks.push(...(await keptLists(context, keyring, flags.rebuild ?? false)));
  const config = await attempt('config', () => loadConfig(context.env, context.configPath));
  if ('check' in config) checks.push(config.check);
  else checks.push(...(await configChecks(context, config.value, keyring, flags.deep ?? false)));
  await printResult(context, 'doctor', { items: checks }, () => printChecks(context, checks));
  const bad = checks.filter((check) => check.state === 'bad');
  if (bad.length === 0) return EXIT.closed;
  return bad.every((check) => check.credentials) ? EXIT.credentials : EXIT.failed;
}

function node(): Check {
  return good('node', `Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'missing'}`);
}

async function homeRoom(env: NodeJS.ProcessEnv): Promise<Check> {
  const home = homePath(env);
  const found = await attempt('home', async () => {
    homeFolder(env);
    await mkdir(home, { recursive: true, mode: 0o700 });
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
  const found = await Promise.all(names.map((name) => instanceChecks(config, name, keyring?.store)));
  const held = keyring === undefined ? [] : await keysHeld(context, names, keyring);
  return [
    head,
    ...(await fileChecks(context.env, config)),
    ...(await placeChecks(context, config, keyring, deep)),
    ...found.flat(),
    ...held,
    ...(await surroundings(context, config)),
    ...(await approvalChecks(config)),
    ...(await drillChecks(context.env, config)),
    ...(await notifyChecks(context, config)),
  ];
}

async function instanceChecks(
  config: LoadedConfig,
  name: string,
  store: KeyStore | undefined,
): Promise<Check[]> {
  const found: Check[] = [];
  const opened = await attempt(name, () =>
    openInstance(config, name, {
      found: (line) => found.push(good(`${name}: revision`, line)),
      store: async () => {
        if (store === undefined) throw new Error('the key store is not usable');
        return store;
      },
    }),
  );
  if ('check' in opened) return [opened.check];
  const instance = opened.value;
  try {
    const token = await attempt(`${name}: token`, () => instance.token());
    if ('check' in token) return [token.check];
    const expires = expiryOf(token.value);
    const tokenCheck = good(
      `${name}: token`,
      expires === undefined ? 'there is one' : `there is one, until ${expires}`,
    );
    if (!instance.service.supports('overview'))
      return [tokenCheck, ...found, await oldInterface(name, instance)];
    const overview = await attempt(`${name}: service`, () => instance.service.overview());
    if ('check' in overview) return [tokenCheck, overview.check];
    const { name: title, state } = overview.value.value;
    const service = good(
      `${name}: service`,
      `"${show(title ?? 'no name', 60)}" is ${show(state ?? 'in an unknown state', 40)}`,
    );
    const list = await attempt(`${name}: backups`, () => instance.service.backups());
    if ('check' in list) return [tokenCheck, service, list.check];
    const backups = good(`${name}: backups`, `the list can be read: ${list.value.value.length}`);
    return [tokenCheck, ...found, service, backups, clock(name, overview.value.skew)];
  } finally {
    await instance.service.close();
  }
}

/** V0 has only its listing. */
async function oldInterface(name: string, instance: OpenInstance): Promise<Check> {
  const { service } = instance;
  const list = await attempt(`${name}: backups`, () => service.backups());
  if ('check' in list) return list.check;
  return {
    what: `${name}: backups`,
    state: 'warn',
    found: `the list can be read: ${list.value.value.length}; V0 says nothing of the instance itself`,
    hints: [
      ...(service.limits === undefined ? [] : [service.limits.deprecation]),
      `what can be run on ${name}: ${runnableOn(instance).join(', ')}`,
    ],
  };
}

function clock(name: string, measured: Skew | undefined): Check {
  const what = `${name}: clock`;
  if (measured === undefined)
    return { what, state: 'warn', found: 'the service sends no Date header', hints: [] };
  const skew = Math.round(measured.skewMs / 1000);
  const text = Math.abs(skew) <= 2 ? 'agrees with the service' : `the service is ${skew} s ahead`;
  if (Math.abs(skew) <= 60) return good(what, text);
  return { what, state: 'warn', found: text, hints: ['times in the evidence will differ: set this clock'] };
}

function printChecks(context: CommandContext, checks: readonly Check[]): void {
  const rows = checks.map(({ state, what, found }) => [
    state === 'bad' ? 'BAD' : state,
    what,
    readable(found),
  ]);
  const columns = [{ title: 'state' }, { title: 'what' }, { title: 'found', gives: true }];
  printTable(context, columns, rows);
  for (const { what, hints } of checks)
    for (const hint of hints) context.stdout.write(`hint (${what}): ${hint}\n`);
}
