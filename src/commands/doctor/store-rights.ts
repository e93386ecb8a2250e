import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { storeNamed } from '../../config/store-named.ts';
import { RIGHTS_WORDS } from '../../store/rights.ts';
import { sideOf } from '../store/side.ts';
import { type Check, good } from './check.ts';

/**
 * Whether this user may do to a team's store what a member does, and no more; empty for SQLite. What keeps
 * the store from being read is said by other checks.
 */
export async function storeRightsChecks(context: CommandContext): Promise<Check[]> {
  const side = sideOf(context, await storeNamed(context.env, context.configPath));
  const rights = await side.rights().catch(() => undefined);
  if (rights === undefined) return [];
  const [what, where] = ['store', show(side.shown, 200)];
  const words = RIGHTS_WORDS[rights];
  if (words === undefined) return [good(what, `${where}: this user reads and appends, and changes nothing`)];
  return [{ what, state: 'warn', found: `${where}: ${words.found}`, hints: [words.hint] }];
}
