import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';

/** `lifeboat audit …`. */
export function defineAudit(program: Command, command: Define): void {
  const audit = group(program, 'audit', 'the journal: prove it, read it, hand it over');
  command(
    audit,
    'verify [run|bundle]',
    'recompute every entry, the tree, and each checkpoint, here or of a bundle (tar, folder, exported lines)',
    async () => (await import('./verify.ts')).auditVerifyCommand,
    [
      new Option('--public-key <file>', 'the public key (PEM), got from elsewhere'),
      anchor(
        'what a run printed at its end, or a raw command; from elsewhere; pins the whole store up to it; may be repeated',
      ),
    ],
  );
  command(
    audit,
    'show [run]',
    'what happened, one line an entry',
    async () => (await import('./show.ts')).auditShowCommand,
    [instance('the ledger of this instance: what has changed it, by whom')],
  );
  command(
    audit,
    'export [run]',
    'all evidence of a run in one signed bundle, with what it takes to verify it',
    async () => (await import('./export.ts')).auditExportCommand,
    [
      new Option('--out <file>', 'where to (default: lifeboat-RUN.tar here; - for standard output)'),
      new Option('--lines', 'the journal alone, as JSON lines with their proof, to standard output'),
      anchor('shows the log at this anchor too, so that it can be verified with the bundle; may be repeated'),
    ],
  );
  command(
    audit,
    'anchor [run]',
    'the head of the store in one line for the ticket: it betrays a journal that was rolled back',
    async () => (await import('./anchor.ts')).auditAnchorCommand,
  );
  command(
    audit,
    'accept-loss',
    'go on although entries are lost: on record, in every later report, with the lost calls in doubt',
    async () => (await import('./accept-loss.ts')).auditAcceptLossCommand,
    [
      new Option('--reason <text>', 'why nothing can be put back, for the record').makeOptionMandatory(),
      new Option('--confirm <log>', 'the 16 hex digits of the log, when no one is there to type them'),
    ],
  );
  command(
    audit,
    'key',
    'the public key that verifies the records of this installation',
    async () => (await import('./public-key.ts')).auditKeyCommand,
  );
}

function anchor(what: string): Option {
  return new Option('--anchor <text>', what).argParser((text: string, others: readonly string[] = []) => [
    ...others,
    text,
  ]);
}
