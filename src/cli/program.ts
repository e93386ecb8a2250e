import { Command, CommanderError, Option } from 'commander';
import { EXIT } from '../base/errors.ts';
import { defineApprovals } from '../commands/approvals/define-approvals.ts';
import { defineDrill } from '../commands/drill/define-drill.ts';
import { defineFollowUps } from '../commands/followups/define-follow-ups.ts';
import { about, driving, labOptions } from '../commands/run/run-options.ts';
import { defineService } from '../commands/service/define-service.ts';
import { defineStatus } from '../commands/status/define-status.ts';
import { defineStore } from '../commands/store/define-store.ts';
import type { CommandContext } from './context.ts';
import { type Define, group, json, TIME } from './define.ts';
import { HELP, KEYS_HELP, LAB_HELP, REPORT_HELP, RUNBOOKS } from './help-texts.ts';

/**
 * Parses a command line and runs the command. Gives the exit code; usage errors are 2, and `beforeError` is
 * called before one of them is printed: they belong on the ordinary screen. `unhush` is for the commands
 * (`CommandContext`).
 */
export async function parse(
  argv: readonly string[],
  version: string,
  beforeError: () => void = () => undefined,
  unhush?: () => void,
): Promise<number> {
  let exitCode: number = EXIT.closed;
  const finish = (code: number) => {
    exitCode = code;
  };
  const program = build({ version, unhush }, finish, beforeError);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    const lacksRunbook = thrown.code === 'commander.missingArgument' && thrown.message.includes("'runbook'");
    if (lacksRunbook) process.stderr.write(`${RUNBOOKS}\n`);
    return thrown.exitCode === 0 ? EXIT.closed : EXIT.usage;
  }
}

function build(
  start: Pick<CommandContext, 'version' | 'unhush'>,
  finish: (code: number) => void,
  beforeError: () => void,
): Command {
  const outputError = (text: string, write: (text: string) => void) => {
    beforeError();
    write(text);
  };
  const program = new Command('lifeboat')
    .configureOutput({ outputError })
    .description('Disaster-recovery runbooks: run step by step, never sent twice, proven with evidence.')
    .version(start.version)
    .option(
      '--config <file>',
      'lifeboat.yaml to use (default: LIFEBOAT_CONFIG, ./lifeboat.yaml, the XDG config folder)',
    )
    .showHelpAfterError('(`lifeboat --help` lists the commands)')
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true })
    .addHelpText('after', HELP)
    .exitOverride();

  const command: Define = (parent, nameAndArgs, description, load, options = [], { hidden = false } = {}) => {
    const made = parent.command(nameAndArgs, { hidden }).description(description).exitOverride();
    const needed = options.filter(({ mandatory }) => mandatory);
    // Commander would ask for a mandatory option before it names a misspelt one, which is that very option
    // more often than not.
    for (const option of options) made.addOption(option.makeOptionMandatory(false));
    return made.action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      const missing = needed.find((option) => self.getOptionValue(option.attributeName()) === undefined);
      if (missing !== undefined) self.error(`error: required option '${missing.flags}' not specified`);
      const args = self.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string');
      const action = await load();
      const globals = program.opts<{ config?: string }>();
      finish(await action(contextFor(start, globals.config), args, self.opts() as never));
    });
  };

  program.commandsGroup('Runbooks:');
  command(
    program,
    'run <runbook>',
    'run a runbook, one safe step at a time',
    async () => (await import('../commands/run/run.ts')).run,
    [
      ...about(),
      new Option(
        '--dry-run',
        'print the calls that the run would make, in order, and start no run; sends only GETs',
      ),
      ...driving(),
    ],
  ).addHelpText('after', RUNBOOKS);
  command(
    program,
    'resume [run]',
    'carry on with a run; asks the service first what has happened',
    async () => (await import('../commands/run/resume.ts')).resume,
    [
      new Option('--abandon <reason>', 'give the run up instead; its record stays'),
      new Option('--to <time>', `for a run that asks for one, ${TIME}`),
      ...driving(),
    ],
  );
  command(
    program,
    'runs',
    'runs and where they stand',
    async () => (await import('../commands/runs.ts')).runs,
    [
      new Option('--open', 'only those that are not closed'),
      new Option('--drills', 'those of the drills, each with the folder that keeps it'),
      new Option('--limit <number>', 'only the newest so many'),
      json('one JSON object a line'),
    ],
  );
  defineStatus(program, command);
  defineFollowUps(program, command);
  defineApprovals(program, command);
  program.commandsGroup('Rehearsal:');
  defineDrill(program, command);
  command(
    program,
    'lab',
    'the service on this machine, on real PostgreSQL; prints a lifeboat.yaml',
    async () => (await import('../commands/lab/lab.ts')).lab,
    [
      new Option('--port <n>', 'port on 127.0.0.1 (default: any free one)'),
      new Option('--revision <n>', 'revision of the service').choices(['61', '62']).default('62'),
      new Option('--folder <dir>', 'folder for tokens, keys and backups: empty or new; removed at the end'),
      ...labOptions(),
    ],
  ).addHelpText('after', LAB_HELP);
  command(
    program,
    'lab-query <instance>',
    'what the sample application of a running lab holds',
    async () => (await import('../commands/lab/lab-query.ts')).labQuery,
    [new Option('--folder <dir>', 'the folder of the lab').makeOptionMandatory()],
    { hidden: true },
  );
  command(
    program,
    'lab-app <file>',
    'the sample application of a lab, in a single executable',
    async () => (await import('../commands/lab/lab-app.ts')).labApp,
    [],
    { hidden: true },
  );
  program.commandsGroup('Keys and proof:');
  command(
    program,
    'verify <file>',
    'verdict on a downloaded backup (- reads it from standard input)',
    async () => (await import('../commands/verify.ts')).verify,
    [
      new Option('--instance <name>', 'try the keys that are held for this instance'),
      new Option('--key-file <file>', 'try the key in this file (- for standard input)'),
      json('the verdict as JSON'),
    ],
  );
  const audit = group(program, 'audit', 'the journal: prove it, read it, hand it over');
  command(
    audit,
    'verify [run|bundle]',
    'recompute every entry, the tree, and each checkpoint, here or of a bundle (tar, folder, exported lines)',
    async () => (await import('../commands/audit/verify.ts')).auditVerifyCommand,
    [
      new Option('--public-key <file>', 'the public key (PEM), got from elsewhere'),
      new Option(
        '--anchor <text>',
        'what a run printed at its end, or a raw command; from elsewhere; pins the whole store up to it; may be repeated',
      ).argParser((text: string, others: readonly string[] = []) => [...others, text]),
      json('verdict, pins and findings as JSON'),
    ],
  );
  command(
    audit,
    'show [run]',
    'what happened, one line an entry',
    async () => (await import('../commands/audit/show.ts')).auditShowCommand,
    [
      new Option('--instance <name>', 'the ledger of this instance: what has changed it, by whom'),
      json('entries as JSON lines'),
    ],
  );
  command(
    audit,
    'export [run]',
    'all evidence of a run in one signed bundle, with what it takes to verify it',
    async () => (await import('../commands/audit/export.ts')).auditExportCommand,
    [
      new Option('--out <file>', 'where to (default: lifeboat-RUN.tar here; - for standard output)'),
      new Option('--lines', 'the journal alone, as JSON lines with their proof, to standard output'),
      new Option(
        '--anchor <text>',
        'shows the log at this anchor too, so that it can be verified with the bundle; may be repeated',
      ).argParser((text: string, others: readonly string[] = []) => [...others, text]),
    ],
  );
  command(
    audit,
    'anchor [run]',
    'the head of the store in one line for the ticket: it betrays a journal that was rolled back',
    async () => (await import('../commands/audit/anchor.ts')).auditAnchorCommand,
  );
  command(
    audit,
    'accept-loss',
    'go on although entries are lost: on record, in every later report, with the lost calls in doubt',
    async () => (await import('../commands/audit/accept-loss.ts')).auditAcceptLossCommand,
    [
      new Option('--reason <text>', 'why nothing can be put back, for the record').makeOptionMandatory(),
      new Option('--confirm <log>', 'the 16 hex digits of the log, when no one is there to type them'),
    ],
  );
  command(
    audit,
    'key',
    'the public key that verifies the records of this installation',
    async () => (await import('../commands/audit/public-key.ts')).auditKeyCommand,
  );
  command(
    program,
    'report <run...>',
    'record of a run: objectives, course, decisions, deviations, evidence',
    async () => (await import('../commands/report.ts')).report,
    [
      new Option('--format <name>', 'Markdown, JSON, or one HTML file that needs nothing else')
        .choices(['md', 'json', 'html'])
        .default('md'),
      new Option('--out <file>', 'write it into this new file (default: standard output)'),
      new Option('--compare', 'two runs side by side, the older one first'),
    ],
  ).addHelpText('after', REPORT_HELP);
  const keys = group(program, 'keys', 'encryption keys, by fingerprint; a key itself is never printed');
  keys.addHelpText('after', KEYS_HELP);
  command(
    keys,
    'list [instance]',
    'keys that are held, and what the ledger knows of them',
    async () => (await import('../commands/keys.ts')).keysList,
    [json('as JSON')],
  );
  command(
    keys,
    'add <instance>',
    'store a key that you have (asked for twice, hidden)',
    async () => (await import('../commands/keys.ts')).keysAdd,
    [
      new Option('--file <file>', 'read it from this file (- for standard input)'),
      new Option('--note <text>', 'a note for the ledger'),
      new Option('--as <fingerprint>', 'under the fingerprint that another key store gave it').conflicts([
        'token',
        'check',
      ]),
      new Option('--token', 'store the access token of the instance instead of a key'),
      new Option('--check', 'store nothing: only say whether this key is held (exit 0) or not (1)').conflicts(
        ['token', 'note'],
      ),
    ],
  );
  defineStore(program, command);
  program.commandsGroup('The service, endpoint by endpoint:');
  defineService(program, command);
  program
    .commandsGroup('Help:')
    .addHelpCommand(
      new Command('help').argument('[command]').description('display help for command').helpGroup('Help:'),
    );
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
      json('as JSON'),
    ],
  );
  return program;
}

function contextFor(
  start: Pick<CommandContext, 'version' | 'unhush'>,
  configPath: string | undefined,
): CommandContext {
  const { stdin, stdout, stderr, env } = process;
  return { stdin, stdout, stderr, env, configPath, ...start };
}
