import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { isPostgres, shownStore } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';

export const QUEUE_WORDS = {
  made: 'the queue of its workers was made',
  there: 'the queue of its workers is there',
  migrated: 'the queue of its workers was brought to this version',
  missing: 'this user may not make or change the queue of its workers; all else works without it',
} as const;

/** With its name for people. Rejects with `store.sqlite` (exit 2) for one person's store. */
export async function teamStore(context: CommandContext) {
  const address = await storeNamed(context.env, context.configPath);
  if (isPostgres(address)) return { address, where: shownStore(address) };
  throw new LifeboatError('store.sqlite', 'the store is SQLite: the first command that writes makes it', {
    hints: ['for a team: `store: postgres://USER@HOST/DATABASE` in lifeboat.yaml, or LIFEBOAT_STORE'],
    exitCode: EXIT.usage,
  });
}

/** Says what a person with more rights has to do. */
export function hintsOf({ stderr }: CommandContext, toDo: readonly string[]): void {
  for (const line of toDo) stderr.write(`hint: ${show(line, 300)}\n`);
}
