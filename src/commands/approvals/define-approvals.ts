import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { APPROVE_HELP } from './help-text.ts';

/** The commands of the second person, and of whoever waits for one. */
export function defineApprovals(program: Command, command: Define): void {
  command(
    program,
    'approve [challenge]',
    'sign what somebody else is about to do; on a machine of your own, without any config',
    async () => (await import('./approve.ts')).approve,
    [
      new Option(
        '--key <file>',
        "the SSH key to sign with, or its .pub for an agent's (default: lifeboat's own)",
      ),
      new Option('--out <file>', 'where the signature goes (default: the name of the request and .sig)'),
      new Option('--confirm <name>', 'the name of the target, when no one is there to type it'),
      new Option(
        '--print-key <name>',
        "print the line for the other side's allowed signers, under your name",
      ),
    ],
  ).addHelpText('after', APPROVE_HELP);
  const approvals = command(
    program,
    'approvals [run]',
    'what waits for the approval of a second person',
    async () => (await import('./approvals.ts')).approvals,
  );
  command(
    approvals,
    'accept <run> <signature>',
    'check a signature that was brought back, and let the run find it',
    async () => (await import('./approvals.ts')).approvalsAccept,
  );
  command(
    approvals,
    'withdraw <run>',
    'take the approval back, until the name is typed',
    async () => (await import('./approvals.ts')).approvalsWithdraw,
    [new Option('--reason <text>', 'why, for the record').makeOptionMandatory()],
  );
}
