import { type Command, Option } from 'commander';
import { defineApprovals } from '../commands/approvals/define-approvals.ts';
import { defineAudit } from '../commands/audit/define-audit.ts';
import { defineDrill } from '../commands/drill/define-drill.ts';
import { defineFollowUps } from '../commands/followups/define-follow-ups.ts';
import { defineKeys } from '../commands/keys/define-keys.ts';
import { defineLab } from '../commands/lab/define-lab.ts';
import { definePrune } from '../commands/prune/define-prune.ts';
import { defineRuns } from '../commands/run/define-runs.ts';
import { defineService } from '../commands/service/define-service.ts';
import { defineStatus } from '../commands/status/define-status.ts';
import { defineStore } from '../commands/store/define-store.ts';
import { type Define, instance } from './define.ts';
import { REPORT_HELP } from './help-texts.ts';

/** Adds every command, in the order and under the headings of the help. */
export function defineAll(program: Command, command: Define): void {
  program.commandsGroup('Runbooks:');
  defineRuns(program, command);
  defineStatus(program, command);
  defineFollowUps(program, command);
  defineApprovals(program, command);
  program.commandsGroup('Rehearsal:');
  defineDrill(program, command);
  defineLab(program, command);
  program.commandsGroup('Keys and proof:');
  command(
    program,
    'verify <file>',
    'verdict on a downloaded backup (- reads it from standard input)',
    async () => (await import('../commands/verify.ts')).verify,
    [
      instance('try the keys that are held for this instance'),
      new Option('--key-file <file>', 'try the key in this file (- for standard input)'),
    ],
  );
  defineAudit(program, command);
  command(
    program,
    'report <run...>',
    'record of a run: objectives, course, decisions, deviations, evidence',
    async () => (await import('../commands/report.ts')).report,
    [
      new Option('--format <name>', 'Markdown, JSON, or one HTML file that needs nothing else')
        .choices(['md', 'json', 'html'])
        .default(undefined, 'md'),
      new Option('--out <file>', 'write it into this new file (default: standard output)'),
      new Option('--compare', 'two runs side by side, the older one first'),
    ],
  ).addHelpText('after', REPORT_HELP);
  defineKeys(program, command);
  defineStore(program, command);
  definePrune(program, command);
  program.commandsGroup('The service, endpoint by endpoint:');
  defineService(program, command);
  program.commandsGroup('Help:');
  defineHelp(program, command);
}

function defineHelp(program: Command, command: Define): void {
  command(
    program,
    'doctor',
    'check config, token, rights, key store, clock, disk',
    async () => (await import('../commands/doctor/doctor.ts')).doctor,
    [
      new Option(
        '--deep',
        'also compare the lists that commands read with every entry of the journal, and send the newest checkpoint to the commands that keep checkpoints',
      ),
      new Option('--rebuild', 'make lists that differ anew from the journal').implies({ deep: true }),
    ],
  );
  command(
    program,
    'version',
    'the version of lifeboat, and what it runs on',
    async () => (await import('../commands/version.ts')).version,
  );
  command(
    program,
    'schema [name]',
    'the JSON Schemas of what commands print',
    async () => (await import('../commands/schema.ts')).schema,
  );
  command(
    program,
    'help [command...]',
    'the help of a command',
    async () => {
      const { helpOn } = await import('./help-on.ts');
      return async (_, words) => helpOn(program, words);
    },
    [],
    { hasNoForm: true },
  );
}
