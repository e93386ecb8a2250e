import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';

/** The commands of the second person, and of the operator who waits for one. */
export function defineApprovals(program: Command, command: Define): void {
  command(
    program,
    'approve [request]',
    'sign what a colleague is about to do',
    async () => (await import('./approve.ts')).approve,
    [
      new Option('--key <file>', "an SSH key, or its .pub (default: lifeboat's own key)"),
      new Option('--out <file>', 'where the signature goes (default: REQUEST.sig)'),
      new Option('--confirm <name>', 'the name of the target, in a script'),
      new Option('--print-key <name>', 'print your line for the allowed signers'),
    ],
    {
      about: 'It needs no config, and is meant for a machine of your own.',
      notes: [
        `Two people:
  1. The run stops before the change and writes a request, a text file.
  2. The second person reads it and signs it, on another machine:
       lifeboat approve REQUEST.txt --key ~/.ssh/id_ed25519
     or without lifeboat:
       ssh-keygen -Y sign -n lifeboat-approval -f ~/.ssh/id_ed25519 REQUEST.txt
  3. Bring the signature back: lifeboat approvals accept RUN REQUEST.txt.sig
  4. Type the name, or: lifeboat resume RUN --confirm NAME
Who may approve is in the file \`approvals.allowedSigners\` of lifeboat.yaml, in
the format of ssh-keygen(1).`,
      ],
    },
  );
  const approvals = command(
    program,
    'approvals [run]',
    'show what waits for a second person',
    async () => (await import('./approvals.ts')).approvals,
    [],
    { about: 'Exit code 3 while something waits. `lifeboat approve --help` has the steps.' },
  );
  command(
    approvals,
    'accept <run> <signature>',
    'check a signature and hand it to the run',
    async () => (await import('./approvals.ts')).approvalsAccept,
  );
  command(
    approvals,
    'withdraw <run>',
    'take a request or an approval back',
    async () => (await import('./approvals.ts')).approvalsWithdraw,
    [new Option('--reason <text>', 'why, for the record').makeOptionMandatory()],
    { about: 'Possible until the name is typed in the run.' },
  );
}
