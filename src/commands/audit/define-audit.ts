import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { repeated } from '../run/run-options.ts';

export function defineAudit(program: Command, command: Define): void {
  const audit = group(program, 'audit', 'prove, read and export the journal');
  command(
    audit,
    'verify [run|bundle]',
    'recompute the journal, or a bundle, and its checkpoints',
    async () => (await import('./verify.ts')).auditVerifyCommand,
    [
      new Option('--public-key <file>', 'the public key (PEM), obtained elsewhere'),
      anchor('an anchor from a ticket; pins all before it (repeatable)'),
      new Option('--receipts <dir>', 'also check these receipts and their files (repeatable)').argParser(
        repeated,
      ),
      // Passed by the app, which has the vault open and verifies in a separate process.
      new Option('--stored-key <base64>', 'the public key of the open key store').hideHelp(),
    ],
    {
      about: `Exit code 0: intact under a pinned key. 3: nothing is wrong, and the verdict
names what is not pinned. 1: not intact. A bundle is a tar, a folder, or the
lines of \`audit export --lines\`; it needs no home and no config.`,
      examples: ['lifeboat audit verify', 'lifeboat audit verify lifeboat-01K....tar --public-key key.pem'],
    },
  );
  command(
    audit,
    'show [run]',
    'show what happened, one line per entry',
    async () => (await import('./show.ts')).auditShowCommand,
    [instance('the ledger of this instance: who changed it, and how')],
    { examples: ['lifeboat audit show last', 'lifeboat audit show -i orders'] },
  );
  command(
    audit,
    'export [run]',
    'write all evidence of a run into one signed bundle',
    async () => (await import('./export.ts')).auditExportCommand,
    [
      new Option('--out <file>', 'the tar (default: lifeboat-RUN.tar); - for stdout'),
      new Option('--lines', 'print only the journal, as JSON lines with their proof'),
      anchor('also prove the log at this anchor (repeatable)'),
    ],
    { examples: ['lifeboat audit export last', 'lifeboat audit export last --out evidence.tar'] },
  );
  command(
    audit,
    'anchor [run]',
    'print the head of the store in one line, for a ticket',
    async () => (await import('./anchor.ts')).auditAnchorCommand,
    [],
    { about: 'Kept elsewhere, it shows later whether the journal was rolled back or changed.' },
  );
  command(
    audit,
    'accept-loss',
    'accept that entries are lost, and record it',
    async () => (await import('./accept-loss.ts')).auditAcceptLossCommand,
    [
      new Option('--reason <text>', 'why the journal cannot be put back').makeOptionMandatory(),
      new Option('--confirm <log>', 'the 16 hex digits of the log, in a script'),
    ],
    {
      about: `It shows what is lost and asks. Calls that were in the lost part are then in
doubt, and every later report begins with the loss. Put the journal back from
a backup instead, where there is one.`,
    },
  );
  command(
    audit,
    'key',
    'print the public key of this installation',
    async () => (await import('./anchor.ts')).auditKeyCommand,
    [new Option('--receipts', 'the key that signs receipts instead')],
    { about: 'Its records are verified with it: `lifeboat audit verify --public-key FILE`.' },
  );
}

function anchor(what: string): Option {
  return new Option('--anchor <text>', what).argParser(repeated);
}
