import { type Command, Option } from 'commander';
import { type Define, group } from '../../cli/define.ts';

export function defineStore(program: Command, command: Define): void {
  const store = group(program, 'store', 'show, set up or move the store of the journal', {
    about: 'It is SQLite in LIFEBOAT_HOME, or the PostgreSQL of a team.',
  });
  command(
    store,
    'init',
    'make or migrate the schema of a team store',
    async () => (await import('./init.ts')).storeInit,
  );
  command(
    store,
    'status',
    'show engine, size, signers, holders, checkpoints',
    async () => (await import('./status.ts')).storeStatus,
  );
  command(
    store,
    'copy',
    'move all entries into an empty store',
    async () => (await import('./copy.ts')).storeCopy,
    [
      new Option('--from <store>', 'sqlite (in LIFEBOAT_HOME), or postgres://...').makeOptionMandatory(),
      new Option('--to <store>', 'the same; it has to be empty').makeOptionMandatory(),
      new Option('--confirm <size>', 'the number of entries, in a script'),
    ],
    {
      about: `The log stays as it is, so that every checkpoint and anchor still holds. The
store that is copied from takes no more entries afterwards.`,
      examples: ['lifeboat store copy --from sqlite --to postgres://ada@db.example.com/lifeboat'],
    },
  );
  command(
    store,
    'endorse <installation>',
    'vouch for the key of another installation',
    async () => (await import('./endorse.ts')).storeEndorse,
    [
      new Option('--reason <text>', 'how you know that the key is theirs').makeOptionMandatory(),
      new Option('--confirm <installation>', 'the installation, in a script'),
    ],
    { about: 'What it signs is trusted from then on. Compare the key with its owner first.' },
  );
}
