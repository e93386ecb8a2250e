import { join } from 'node:path';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { readPlainFile } from '../base/bounded-file.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { ownFile } from '../base/own-program.ts';
import { mostSimilar } from '../base/similar.ts';
import { show } from '../base/text.ts';
import { RUNBOOK_NAMES } from '../cli/help-texts.ts';
import type { ProseSection } from '../view/prose.ts';

/** The runbook of that name; an unknown one names the known. */
export function runbookNamed(name: string): Runbook {
  const found = Object.hasOwn(runbooks, name) ? runbooks[name] : undefined;
  if (found !== undefined) return found;
  throw new LifeboatError('runbook.unknown', `there is no runbook ${show(name, 60)}`, {
    hints: [...mostSimilar(name, RUNBOOK_NAMES), `the runbooks: ${RUNBOOK_NAMES.join(', ')}`],
    exitCode: EXIT.usage,
  });
}

/**
 * What a responder reads in each state: a team's own text (`overlay`, a folder) laid over the shipped one. A
 * missing file is no reason to refuse a recovery: the prose is then empty.
 */
export async function proseOf(
  runbook: Runbook,
  overlay?: string,
): Promise<ReadonlyMap<string, ProseSection>> {
  const file = `${runbook.id}.md`;
  const shared = await ourProse(SHARED);
  const { layOver, proseOfStates } = await import('../view/prose.ts');
  const own = proseOfStates(runbook.machine, await ourProse(file), shared);
  if (overlay === undefined) return own;
  const theirs = (name: string) => proseIn(() => readPlainFile(join(overlay, name), MAX_PROSE));
  return layOver(own, proseOfStates(runbook.machine, await theirs(file), await theirs(SHARED)));
}

/** The text of phases that several runbooks share; a team may have one too. */
const SHARED = 'phases.md';

/** Bytes. The longest of ours has a hundredth of that. */
const MAX_PROSE = 4 * 1024 * 1024;

function ourProse(name: string): Promise<ReadonlyMap<string, ProseSection>> {
  return proseIn(() => ownFile(`runbooks/${name}`), name);
}

/** Empty for a file that cannot be read. `builtFrom`: which shipped file it is. */
async function proseIn(read: () => Buffer, builtFrom?: string): Promise<ReadonlyMap<string, ProseSection>> {
  const { proseByState } = await import('../view/prose.ts');
  const { builtProse } = await import('./built-prose.ts');
  try {
    const markdown = read().toString('utf8');
    const built = builtFrom === undefined ? undefined : builtProse(builtFrom, markdown);
    return built ?? proseByState(markdown);
  } catch {
    return new Map();
  }
}
