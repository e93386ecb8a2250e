import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync, symlinkSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { namesIn } from '../../base/bounded-file.ts';
import { EXIT, errorCode, LifeboatError } from '../../base/errors.ts';
import { makePrivateFolder } from '../../base/folders.ts';
import { ownProgram } from '../../base/own-program.ts';
import { onPath } from '../../base/run-shell.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { openJournalIfAny } from '../../compose/store-of.ts';
import { homeFolder } from '../../config/find.ts';
import { SQLITE } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';
import { findRun } from '../../runner/runs.ts';
import { plain } from '../../view/fallback/shell-text.ts';

/*
 * A drill has a home of its own, so that what it did to a lab never stands among what was done to a service.
 * Every drill is found again below `$LIFEBOAT_HOME/drills`: its home lies there, or a link to it.
 */

/**
 * Makes the home of a new drill, named by the time: below `report` where one is given, else below the drills
 * of this home. It is a folder that was not there before, so that no drill writes over the record of another,
 * and its name is free among the drills of this home, too. Throws what the system says.
 */
export function newDrillHome(env: NodeJS.ProcessEnv, report: string | undefined): string {
  const drills = drillsFolder(homeFolder(env));
  const parent = report === undefined ? drills : resolve(report);
  makePrivateFolder(parent);
  const stamp = newStamp();
  for (let at = 1; ; at += 1) {
    const home = join(parent, at === 1 ? stamp : `${stamp}-${at}`);
    if (!isNew(() => mkdirSync(home, { mode: 0o700 }))) continue;
    if (linkBelow(drills, home)) return home;
    rmdirSync(home);
  }
}

/** What a drill that begins now is called. */
export function newStamp(): string {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
}

/** Makes something; false where something has its name already. Throws what else the system says. */
function isNew(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/**
 * Links a home that lies elsewhere; false where another drill has its name. Where it cannot be linked, the
 * drill is found by the commands that it prints.
 */
function linkBelow(drills: string, home: string): boolean {
  try {
    makePrivateFolder(drills);
    const isBelow = realpathSync(join(home, '..')) === realpathSync(drills);
    return isBelow || isNew(() => symlinkSync(home, join(drills, basename(home))));
  } catch {
    return true;
  }
}

/** The links below a folder that lead to a home. */
export function linksTo(home: string, links: string): readonly string[] {
  const real = realpathSync(home);
  return namesIn(links)
    .map((name) => join(links, name))
    .filter((link) => lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    .filter((link) => realOf(link) === real);
}

/** Where a link leads; undefined where nothing is. */
function realOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

/** The homes of the drills that have left a journal, oldest first. */
export function drillHomes(env: NodeJS.ProcessEnv): readonly string[] {
  const drills = drillsFolder(homeFolder(env));
  const names = existsSync(drills) ? readdirSync(drills).toSorted() : [];
  return names.map((name) => join(drills, name)).filter((home) => existsSync(journalIn(home)));
}

/** The journal of a drill. */
export function journalIn(home: string): string {
  return join(home, 'lifeboat.db');
}

/**
 * The context of the home that knows a run: the own one, or that of the newest drill with a run of this name
 * when only drills have one; stderr then says which drill. A word that names no run anywhere changes nothing;
 * whoever opens the journal says so.
 */
export async function whereRunIs(context: CommandContext, word: string | undefined): Promise<CommandContext> {
  const home = await drillOfRun(context, word);
  if (home === undefined) return context;
  context.stderr.write(`${show(word ?? '', 40)} is a run of a drill: ${show(home, 300)}\n`);
  return inDrill(context, home);
}

/** The context of a drill's home: its record lies there, in SQLite, wherever that of this home is. */
export function inDrill(context: CommandContext, home: string): CommandContext {
  return { ...context, env: { ...context.env, LIFEBOAT_HOME: home, LIFEBOAT_STORE: SQLITE } };
}

/**
 * Rejects with exit 2 when the word names a run of a drill and none of this home: the lab that it was made on
 * is gone.
 */
export async function assertNotRunOfDrill(context: CommandContext, word: string | undefined): Promise<void> {
  const home = await drillOfRun(context, word);
  if (word === undefined || home === undefined) return;
  throw new LifeboatError('run.drill', `${show(word, 40)} is a run of a drill, and its lab is gone`, {
    hints: [`read it with: ${drillCommand(await knowingStore(context), home, 'report', word)}`],
    exitCode: EXIT.usage,
  });
}

async function drillOfRun(context: CommandContext, word: string | undefined): Promise<string | undefined> {
  if (word === undefined || (await knows(context, word))) return undefined;
  const newestFirst = drillHomes(context.env).toReversed();
  for (const home of newestFirst) if (await knows(inDrill(context, home), word)) return home;
  return undefined;
}

/** A journal that cannot be read knows it too: whoever opens it says what is wrong with it. */
async function knows(context: CommandContext, word: string): Promise<boolean> {
  try {
    const journal = await openJournalIfAny(context);
    try {
      return journal !== undefined && (await findRun(journal, word)) !== undefined;
    } finally {
      await journal?.close();
    }
  } catch (thrown) {
    return !(thrown instanceof LifeboatError && thrown.code === 'run.unknown');
  }
}

/** A command about the home of a drill, to be copied: it works from this folder, in every shell. */
export function drillCommand(context: CommandContext, home: string, ...words: readonly string[]): string {
  const store = context.env['LIFEBOAT_STORE'] === SQLITE ? [`LIFEBOAT_STORE=${SQLITE}`] : [];
  return [`LIFEBOAT_HOME=${plain(home)}`, ...store, ownCommand(context.env), ...words.map(plain)].join(' ');
}

/**
 * The same context, from which `drillCommand` knows whether another store than the home's own is configured
 * here.
 */
export async function knowingStore(context: CommandContext): Promise<CommandContext> {
  const store = await storeNamed(context.env, context.configPath);
  return store === SQLITE ? context : { ...context, env: { ...context.env, LIFEBOAT_STORE: SQLITE } };
}

/** How this program was started, to be typed again. */
function ownCommand(env: NodeJS.ProcessEnv): string {
  if (env['npm_command'] === 'run-script') return 'npm run --silent lifeboat --';
  const script = process.argv[1] ?? 'lifeboat';
  if (basename(script) === 'lifeboat' && onPath('lifeboat', env) !== undefined) return 'lifeboat';
  return ownProgram()
    .map((path) => plain(nearPath(path)))
    .join(' ');
}

/** A path below this folder from here. */
function nearPath(path: string): string {
  const near = relative('', path);
  return near.startsWith('..') || resolve(near) !== path ? path : `./${near}`;
}

/** Where drills lie, or links to them. */
export function drillsFolder(home: string): string {
  return join(home, 'drills');
}
