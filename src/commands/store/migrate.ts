import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { hintsOf, QUEUE_WORDS, teamStore } from './installed.ts';

/**
 * `lifeboat store migrate`: brings the schemas of a team's PostgreSQL to the version of this lifeboat, each
 * in a transaction of its own, and prints what they were. Nothing else does so.
 */
export async function storeMigrate(context: CommandContext): Promise<number> {
  const { address, where } = await teamStore(context);
  const { migratePostgresStore } = await import('../../store/postgres/schema.ts');
  const { migrateQueue } = await import('../../queue/boss-schema.ts');
  const store = await migratePostgresStore({ address, env: context.env });
  const queue = await migrateQueue({ address, env: context.env });
  const { before = store.version, version } = store;
  await printResult(context, 'store-migrate', { where, before, version, queue: queue.state }, () => {
    const what = before === version ? `is ${version} already` : `was ${before}, and is ${version}`;
    context.stdout.write(`${where}: the version of the store ${what}\n${QUEUE_WORDS[queue.state]}\n`);
  });
  hintsOf(context, [...store.toDo, ...queue.toDo]);
  return EXIT.closed;
}
