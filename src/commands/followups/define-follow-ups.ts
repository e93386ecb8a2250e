import { type Command, Option } from 'commander';
import { type Define, json } from '../../cli/define.ts';
import { settling } from '../run/run-options.ts';

/** The commands about what recoveries left to do. */
export function defineFollowUps(program: Command, command: Define): void {
  const owe = command(
    program,
    'owe',
    'what is still owed after a recovery, by whom and until when',
    async () => (await import('./followups.ts')).owe,
    [new Option('--all', 'also what is settled'), json('one JSON object a line')],
  );
  command(
    owe,
    'settle <id>',
    'say that it was done, with a proof; then its run goes on',
    async () => (await import('./followups.ts')).oweSettle,
    [new Option('--proof <text>', 'what shows that it was done').makeOptionMandatory(), ...settling()],
  );
  command(
    owe,
    'skip <id>',
    'leave it undone, with a reason that stays in the report',
    async () => (await import('./followups.ts')).oweSkip,
    [new Option('--reason <text>', 'why it is not done').makeOptionMandatory(), ...settling()],
  );
  command(
    owe,
    'pay <id>',
    'have it done from here: by the platform, or by a backup',
    async () => (await import('./followups.ts')).owePay,
    settling(),
  );
}
