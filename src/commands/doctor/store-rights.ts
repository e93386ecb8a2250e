import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { storeNamed } from '../../config/store-named.ts';
import { RIGHTS_WORDS } from '../../store/rights.ts';
import { sideOf } from '../store/side.ts';
import { attempt, type Check, good } from './check.ts';

/**
 * Whether this user may do to a team's store what a member does, and no more; empty for SQLite. What keeps
 * the store from being read is said by other checks.
 */
export async function storeRightsChecks(context: CommandContext): Promise<Check[]> {
  const what = 'store';
  const read = await attempt(what, () => rightsOf(context));
  if ('check' in read || read.value.rights === undefined) return [];
  const { shown, rights } = read.value;
  const where = show(shown, 200);
  const words = RIGHTS_WORDS[rights];
  if (words === undefined) return [good(what, `${where}: this user reads and appends, and changes nothing`)];
  return [{ what, state: 'warn', found: `${where}: ${words.found}`, hints: [words.hint] }];
}

/** Why nobody should work as this user each day, and what to do; undefined for a member, and for SQLite. */
export async function tooManyRights(context: CommandContext): Promise<string | undefined> {
  const { rights } = await rightsOf(context);
  const words = rights === 'owner' || rights === 'superuser' ? RIGHTS_WORDS[rights] : undefined;
  return words && `the store: ${words.found}: ${words.hint}`;
}

async function rightsOf(context: CommandContext) {
  const side = sideOf(context, await storeNamed(context.env, context.configPath));
  return { shown: side.shown, rights: await side.rights() };
}
