import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { isPostgres, shownStore } from '../../config/store-address.ts';
import { storeNamed } from '../../config/store-named.ts';

/**
 * `lifeboat store init`: creates or migrates the schemas of a team's PostgreSQL, that of the store and that
 * of its queue, and prints who may do what in it.
 */
export async function storeInit(context: CommandContext): Promise<number> {
  const address = await storeNamed(context.env, context.configPath);
  if (!isPostgres(address))
    throw new LifeboatError('store.sqlite', 'the store is SQLite: the first command that writes makes it', {
      hints: ['for a team: `store: postgres://USER@HOST/DATABASE` in lifeboat.yaml, or LIFEBOAT_STORE'],
      exitCode: EXIT.usage,
    });
  const { MEMBER } = await import('../../store/postgres/schema.ts');
  const { initPostgresStore } = await import('../../store/postgres/schema.ts');
  const { created, version, role, toDo } = await initPostgresStore({ address, env: context.env });
  const { installQueue } = await import('../../queue/boss-schema.ts');
  const queue = await installQueue({ address, env: context.env });
  const { stdout, stderr } = context;
  const where = shownStore(address);
  const made = {
    ...{ where, created, version, role: MEMBER, roleMissing: role === 'missing' },
    queue: queue.state,
  };
  await printResult(context, 'store-init', made, () => {
    stdout.write(`${where}: the store ${created ? 'was made' : 'is there'}, version ${version}\n`);
    stdout.write(
      `the role ${MEMBER} reads and appends, and changes nothing: grant it to each member of the team\n`,
    );
    stdout.write(`${QUEUE_WORDS[queue.state]}\n`);
    if (made.roleMissing) stdout.write(`this user may not make the role ${MEMBER}\n`);
  });
  for (const line of [...toDo, ...queue.toDo]) stderr.write(`hint: ${show(line, 300)}\n`);
  return EXIT.closed;
}

const QUEUE_WORDS = {
  made: 'the queue of its workers was made',
  there: 'the queue of its workers is there',
  missing: 'this user may not make the queue of its workers; all else works without it',
} as const;
