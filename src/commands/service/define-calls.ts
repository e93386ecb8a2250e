import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { tokenFile } from '../run/run-options.ts';

/** The commands for single calls that may have been sent and whose outcome is unknown. */
export function defineCalls(program: Command, command: Define): void {
  const calls = group(program, 'calls', 'list, ask about and resolve calls in doubt', {
    about: `A call is in doubt when it may have been sent and its answer is lost. Until it
is known what became of it, no other change of the instance is sent: a single
command asks the service first, a run is refused. A backup in doubt stops no
other run, since another backup does no harm.`,
  });
  command(
    calls,
    'list [instance]',
    'list the calls that are in doubt',
    async () => (await import('./calls.ts')).callsList,
    [instance('only those of this instance')],
  );
  command(
    calls,
    'ask [call]',
    'ask the service what became of a call; sends nothing',
    async () => (await import('./ask-call.ts')).callsAsk,
    [instance(), tokenFile()],
    {
      about: `It only looks, for as long as the call may still be under way. Exit code 5 if
the service does not show what became of it. CALL may be \`last\`.`,
      examples: ['lifeboat calls ask -i orders'],
    },
  );
  command(
    calls,
    'resolve [call]',
    'decide what became of a call; sends nothing',
    async () => (await import('./calls.ts')).callsResolve,
    [
      instance(),
      tokenFile(),
      new Option('--became <id>', 'the backup or restore it became, or `nothing`').makeOptionMandatory(),
      new Option('--reason <text>', 'how you know').makeOptionMandatory(),
    ],
    {
      about: 'For a call that the service does not show. CALL may be `last`.',
      examples: ['lifeboat calls resolve -i orders --became nothing --reason "no such task"'],
    },
  );
}
