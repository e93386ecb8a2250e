import { join } from 'node:path';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { readPlainFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { packageRoot } from '../base/package-root.ts';
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
  const ours = join(packageRoot(), 'runbooks');
  const shared = await proseIn(join(ours, SHARED));
  const { layOver, proseOfStates } = await import('../view/prose.ts');
  const own = proseOfStates(runbook.machine, await proseIn(join(ours, file)), shared);
  if (overlay === undefined) return own;
  const team = await proseIn(join(overlay, file));
  return layOver(own, proseOfStates(runbook.machine, team, await proseIn(join(overlay, SHARED))));
}

/** What is said once of the phases that several runbooks share; a team may have one as well. */
const SHARED = 'phases.md';

/** Bytes. The longest of ours has a hundredth of that. */
const MOST_PROSE = 4 * 1024 * 1024;

async function proseIn(path: string): Promise<ReadonlyMap<string, ProseSection>> {
  const { proseByState } = await import('../view/prose.ts');
  try {
    return proseByState(readPlainFile(path, MOST_PROSE).toString('utf8'));
  } catch {
    return new Map();
  }
}
