import { EXIT } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { hintsOf, QUEUE_WORDS, teamStore } from './installed.ts';

/**
 * `lifeboat store init`: creates the schemas of a team's PostgreSQL, that of the store and that of its queue,
 * and prints who may do what in it. What is there keeps its version: `lifeboat store migrate` changes that.
 */
export async function storeInit(context: CommandContext): Promise<number> {
  const { address, where } = await teamStore(context);
  const { initPostgresStore, MEMBER } = await import('../../store/postgres/schema.ts');
  const { installQueue } = await import('../../queue/boss-schema.ts');
  const store = await initPostgresStore({ address, env: context.env });
  const queue = await installQueue({ address, env: context.env });
  const { stdout } = context;
  const made = {
    ...{ where, created: store.before === undefined, version: store.version },
    ...{ role: MEMBER, roleMissing: store.role === 'missing', queue: queue.state },
  };
  await printResult(context, 'store-init', made, () => {
    stdout.write(`${where}: the store ${made.created ? 'was made' : 'is there'}, version ${made.version}\n`);
    stdout.write(
      made.roleMissing
        ? `this user may not make the role ${MEMBER}, and without it only the owner can work with the store\n`
        : `the role ${MEMBER} reads and appends, and changes nothing: grant it to each member of the team\n`,
    );
    stdout.write(`${QUEUE_WORDS[queue.state]}\n`);
  });
  hintsOf(context, [...store.toDo, ...queue.toDo]);
  return EXIT.closed;
}
