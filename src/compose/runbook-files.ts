import { join } from 'node:path';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { readPlainFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { ownFile } from '../base/own-program.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import type { ProseSection } from '../view/prose.ts';

/** The runbook of that name; an unknown one names the known. */
export function runbookNamed(name: string): Runbook {
  const found = Object.hasOwn(runbooks, name) ? runbooks[name] : undefined;
  if (found !== undefined) return found;
  throw new LifeboatError('runbook.unknown', `there is no runbook ${show(name, 60)}`, {
    hints: [...mostSimilar(name, Object.keys(runbooks)), `there is: ${Object.keys(runbooks).join(', ')}`],
    exitCode: EXIT.usage,
  });
}

/**
 * What a responder reads in each state, a team's own text (`overlay`, a folder) laid over what comes along. A
 * missing file is no reason to refuse a recovery: the prose is then empty.
 */
export async function proseOf(
  runbook: Runbook,
  overlay?: string,
): Promise<ReadonlyMap<string, ProseSection>> {
  const file = `${runbook.id}.md`;
  const shared = await proseIn(ours(SHARED));
  const { layOver, proseOfStates } = await import('../view/prose.ts');
  const own = proseOfStates(runbook.machine, await proseIn(ours(file)), shared);
  if (overlay === undefined) return own;
  const theirs = (name: string) => () => readPlainFile(join(overlay, name), MOST_PROSE);
  const team = await proseIn(theirs(file));
  return layOver(own, proseOfStates(runbook.machine, team, await proseIn(theirs(SHARED))));
}

/** What is said once of the phases that several runbooks share; a team may have one as well. */
const SHARED = 'phases.md';

/** Bytes. The longest of ours has a hundredth of that. */
const MOST_PROSE = 4 * 1024 * 1024;

function ours(name: string): () => Buffer {
  return () => ownFile(`runbooks/${name}`);
}

/** Of a file that cannot be read: nothing. */
async function proseIn(read: () => Buffer): Promise<ReadonlyMap<string, ProseSection>> {
  const { proseByState } = await import('../view/prose.ts');
  try {
    return proseByState(read().toString('utf8'));
  } catch {
    return new Map();
  }
}
