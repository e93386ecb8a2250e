import { type Command, Option } from 'commander';
import { type Define, group } from '../../cli/define.ts';

/** `lifeboat store …`. */
export function defineStore(program: Command, command: Define): void {
  const store = group(
    program,
    'store',
    'where the entries live: SQLite in the home, or the PostgreSQL of a team',
  );
  command(
    store,
    'init',
    'create or migrate the schema in the configured PostgreSQL',
    async () => (await import('./init.ts')).storeInit,
  );
  command(
    store,
    'status',
    'the engine, the size, who signs, who holds what, the newest checkpoints',
    async () => (await import('./status.ts')).storeStatus,
  );
  command(
    store,
    'copy',
    'move all entries into an empty store, the log intact; then this store takes no more',
    async () => (await import('./copy.ts')).storeCopy,
    [
      new Option(
        '--from <store>',
        '`sqlite` (the home), `sqlite:FOLDER` (another home), or postgres://…',
      ).makeOptionMandatory(),
      new Option('--to <store>', 'the same; it has to be empty').makeOptionMandatory(),
      new Option('--confirm <size>', 'the number of entries, typed, when no one is there to type it'),
    ],
  );
  command(
    store,
    'endorse <installation>',
    'vouch for the key of another installation, so that what it signs is believed',
    async () => (await import('./endorse.ts')).storeEndorse,
    [
      new Option('--reason <text>', 'how you know that the key is theirs').makeOptionMandatory(),
      new Option('--confirm <installation>', 'the installation, typed, when no one is there to type it'),
    ],
  );
}
