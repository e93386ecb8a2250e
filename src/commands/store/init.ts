import { storeNamed } from '../../config/load.ts';
import { isPostgres, shownStore } from '../../config/store-address.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';

/** `lifeboat store init`: makes or migrates the schema of a team's PostgreSQL, and says who may do what in it. */
export async function storeInit(context: CommandContext): Promise<number> {
  const address = await storeNamed(context.env, context.configPath);
  if (!isPostgres(address))
    throw new LifeboatError('store.sqlite', 'the store is SQLite: the first command that writes makes it', {
      hints: ['for a team: `store: postgres://USER@HOST/DATABASE` in lifeboat.yaml, or LIFEBOAT_STORE'],
      exitCode: EXIT.usage,
    });
  const { initPostgresStore } = await import('../../store/postgres/init.ts');
  const { lines } = await initPostgresStore({ address, env: context.env });
  context.stdout.write(`${shownStore(address)}\n`);
  for (const line of lines) context.stdout.write(`${show(line, 300)}\n`);
  return EXIT.closed;
}
