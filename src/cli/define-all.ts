import { type Command, Option } from 'commander';
import { defineApprovals } from '../commands/approvals/define-approvals.ts';
import { defineAudit } from '../commands/audit/define-audit.ts';
import { completion, SHELLS } from '../commands/completion/completion.ts';
import { defineDrill } from '../commands/drill/define-drill.ts';
import { defineFollowUps } from '../commands/followups/define-follow-ups.ts';
import { defineInit } from '../commands/init/define-init.ts';
import { defineKeys } from '../commands/keys/define-keys.ts';
import { defineLab } from '../commands/lab/define-lab.ts';
import { defineNotify } from '../commands/notify/define-notify.ts';
import { definePrune } from '../commands/prune/define-prune.ts';
import { defineRuns } from '../commands/run/define-runs.ts';
import { defineService } from '../commands/service/define-service.ts';
import { defineStatus } from '../commands/status/define-status.ts';
import { defineStore } from '../commands/store/define-store.ts';
import { type Define, instance } from './define.ts';

/** Adds every command, in the order and under the headings of the help. */
export function defineAll(program: Command, command: Define): void {
  program.commandsGroup('Runbooks:');
  defineRuns(program, command);
  defineStatus(program, command);
  defineFollowUps(program, command);
  defineApprovals(program, command);
  defineNotify(program, command);
  program.commandsGroup('Rehearsal:');
  defineDrill(program, command);
  defineLab(program, command);
  program.commandsGroup('Keys and proof:');
  command(
    program,
    'verify <file>',
    'check a downloaded backup to its last byte',
    async () => (await import('../commands/verify.ts')).verify,
    [
      instance('try the keys that are held for this instance'),
      new Option('--key-file <file>', 'try the key in this file (- for stdin)'),
    ],
    {
      about: `Exit code 0 only for a good backup. FILE may be - for standard input.
Both good verdicts mean that the key opens it, and that it was unpacked to its
last byte with all checksums right. A readable backup is a tar, and each of its
entries was walked to its end. An intact one is anything else: nothing in it can
be walked, but a dump in SQL must say that it is complete, and a gzip inside is
unpacked as well. Neither shows that a database accepts it: only a restore does.
Where the file, or the tar, gzip or dump inside it, ends early, the verdict is
truncated; where the key opens it and it holds no data, empty.`,
      examples: ['lifeboat verify orders-backup-12.tgz.enc -i orders'],
    },
  );
  defineAudit(program, command);
  command(
    program,
    'report [run...]',
    'write the record of a run, or of all instances',
    async () => (await import('../commands/report.ts')).report,
    [
      new Option('--format <name>', 'md, html (one file, prints well) or json')
        .choices(['md', 'json', 'html'])
        .default(undefined, 'md'),
      new Option('--out <file>', 'write it into this new file (default: stdout)'),
      new Option('--compare', 'two runs side by side, the older one first'),
      new Option('--all', 'all instances over a period, instead of a run'),
      new Option('--since <duration>', 'how long the period is that ends now').default(undefined, '90d'),
    ],
    {
      about: `Objectives, course, decisions, deviations and evidence, from the journal alone.
What only people know (participants, causes, signatures) is left open.`,
      examples: [
        'lifeboat report last',
        'lifeboat report last --format html --out run.html',
        'lifeboat report --compare 01KA 01KB',
        'lifeboat report --all --since 90d --format html --out quarter.html',
      ],
    },
  );
  defineKeys(program, command);
  defineStore(program, command);
  definePrune(program, command);
  program.commandsGroup('The service, endpoint by endpoint:');
  defineService(program, command);
  program.commandsGroup('Set-up and help:');
  defineHelp(program, command);
}

function defineHelp(program: Command, command: Define): void {
  defineInit(program, command);
  command(
    program,
    'doctor',
    'check config, token, keys, clock and disk',
    async () => (await import('../commands/doctor/doctor.ts')).doctor,
    [
      new Option('--deep', 'also read the whole journal, and try checkpoint commands'),
      new Option('--rebuild', 'rebuild lists that differ from the journal').implies({ deep: true }),
    ],
    {
      about: `It sends only GETs. Exit code 0 when nothing is bad, 4 when only credentials
are, 1 otherwise.`,
    },
  );
  command(
    program,
    'completion <shell>',
    'print the completion script for bash, zsh or fish',
    async () => completion,
    [],
    {
      hasNoForm: true,
      about: 'It completes commands, runbooks, and flags and their values.',
      examples: [
        'source <(lifeboat completion bash)      # in ~/.bashrc',
        'source <(lifeboat completion zsh)       # in ~/.zshrc, after compinit',
        'lifeboat completion fish | source       # in config.fish',
      ],
    },
  ).registeredArguments[0]?.choices(SHELLS);
  command(
    program,
    'complete <shell> [words...]',
    'say what fits for the last word; for the completion scripts',
    async () => (await import('../commands/completion/complete.ts')).completeOn(program),
    [],
    { hidden: true, hasNoForm: true },
  );
  command(
    program,
    'schema [name]',
    'print the JSON Schemas of results and of the config',
    async () => (await import('../commands/schema.ts')).schema,
    [],
    { examples: ['lifeboat schema', 'lifeboat schema runs', 'lifeboat schema config'] },
  );
  command(
    program,
    'version',
    'print the version and what it runs on',
    async () => (await import('../commands/version.ts')).version,
  );
  command(
    program,
    'help [name...]',
    'show the help of a command',
    async () => {
      const { helpOn } = await import('./help-on.ts');
      return async (_, words) => helpOn(program, words);
    },
    [],
    { hasNoForm: true },
  );
}
