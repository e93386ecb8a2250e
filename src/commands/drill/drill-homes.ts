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
 * A drill has a home of its own, so that actions on a lab never mix with actions on a service. Every drill
 * can be found below `$LIFEBOAT_HOME/drills`: its home is there, or a link to it.
 */

/**
 * A new folder named by the time, below `report` or this home's drills: no drill overwrites another's record.
 * The name is also free among this home's drills. Throws file-system errors.
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

export function newStamp(): string {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
}

/** Creates something; false if the name is taken. Throws any other file-system error. */
function isNew(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (thrown) {
    if (errorCode(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/** False if another drill has its name. Without a link the printed commands still find the drill. */
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

function realOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

/** The homes of drills that left a journal, oldest first. */
export function drillHomes(env: NodeJS.ProcessEnv): readonly string[] {
  const drills = drillsFolder(homeFolder(env));
  const names = existsSync(drills) ? readdirSync(drills).toSorted() : [];
  return names.map((name) => join(drills, name)).filter((home) => existsSync(journalIn(home)));
}

export function journalIn(home: string): string {
  return join(home, 'lifeboat.db');
}

/**
 * The context of the home that knows a run: this one, else the newest drill's, which stderr then names. A
 * word without a run changes nothing: opening the journal reports that.
 */
export async function whereRunIs(context: CommandContext, word: string | undefined): Promise<CommandContext> {
  const home = await drillOfRun(context, word);
  if (home === undefined) return context;
  context.stderr.write(`${show(word ?? '', 40)} is a run of a drill: ${show(home, 300)}\n`);
  return inDrill(context, home);
}

/** The context of a drill's home: its record is there, in SQLite, wherever this home keeps its own. */
export function inDrill(context: CommandContext, home: string): CommandContext {
  return { ...context, env: { ...context.env, LIFEBOAT_HOME: home, LIFEBOAT_STORE: SQLITE } };
}

/** Rejects (exit 2) a run that only a drill has: its lab is gone. */
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

/** An unreadable journal counts as knowing the run: opening it reports what is wrong. */
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

/** A command about the home of a drill, ready to copy: it works from this folder, in every shell. */
export function drillCommand(context: CommandContext, home: string, ...words: readonly string[]): string {
  const store = context.env['LIFEBOAT_STORE'] === SQLITE ? [`LIFEBOAT_STORE=${SQLITE}`] : [];
  return [`LIFEBOAT_HOME=${plain(home)}`, ...store, ownCommand(context.env), ...words.map(plain)].join(' ');
}

/** Also tells `drillCommand` whether another store than the home's own is configured. */
export async function knowingStore(context: CommandContext): Promise<CommandContext> {
  const store = await storeNamed(context.env, context.configPath);
  return store === SQLITE ? context : { ...context, env: { ...context.env, LIFEBOAT_STORE: SQLITE } };
}

/** How this program was started, ready to type again. */
function ownCommand(env: NodeJS.ProcessEnv): string {
  if (env['npm_command'] === 'run-script') return 'npm run --silent lifeboat --';
  const script = process.argv[1] ?? 'lifeboat';
  if (basename(script) === 'lifeboat' && onPath('lifeboat', env) !== undefined) return 'lifeboat';
  return ownProgram()
    .map((path) => plain(nearPath(path)))
    .join(' ');
}

/** Shortens a path below this folder to a relative one. */
function nearPath(path: string): string {
  const near = relative('', path);
  return near.startsWith('..') || resolve(near) !== path ? path : `./${near}`;
}

/** The folder of drills, or of links to them. */
export function drillsFolder(home: string): string {
  return join(home, 'drills');
}
