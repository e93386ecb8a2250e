import { type Command, Option } from 'commander';
import { defineAudit } from '../commands/audit/define-audit.ts';
import { completion, SHELLS } from '../commands/completion/completion.ts';
import { defineKeys } from '../commands/keys/define-keys.ts';
import { defineLab } from '../commands/lab/define-lab.ts';
import { definePlans } from '../commands/plans/define-plans.ts';
import { defineRuns } from '../commands/run/define-runs.ts';
import { answering, repeated, revision } from '../commands/run/run-options.ts';
import { defineServe } from '../commands/serve/define-serve.ts';
import { defineService } from '../commands/service/define-service.ts';
import { defineWorker } from '../commands/worker/define-worker.ts';
import { type Define, group, instance } from './define.ts';

/** Adds every command, in the order and under the headings of the help. */
export function defineAll(program: Command, command: Define): void {
  program.commandsGroup('Runbooks:');
  defineRuns(program, command);
  definePlans(program, command);
  defineWorker(program, command);
  defineStatus(program, command);
  defineServe(program, command);
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
      new Option('--out <file>', 'a new file, or a folder for a plan (default: stdout)'),
      new Option('--compare', 'two runs side by side, the older one first'),
      new Option('--all', 'all instances over a period, instead of a run'),
      new Option('--since <duration>', 'how long the period is that ends now').default(undefined, '90d'),
    ],
    {
      about: `Objectives, course, decisions, deviations and evidence, from the journal alone.
What only people know (participants, causes, signatures) is left open. Of the run
of a plan it covers every run that the plan started; --out DIR writes their
reports beside it, linked.`,
      examples: [
        'lifeboat report last',
        'lifeboat report last --format html --out run.html',
        'lifeboat report --compare 01KA 01KB',
        'lifeboat report --all --since 90d --format html --out quarter.html',
      ],
    },
  );
  command(
    program,
    'receipt [run]',
    'sign what a run proved, for people without lifeboat',
    async () => (await import('../commands/receipt.ts')).receipt,
    [
      new Option('--out <dir>', 'a new folder (default: lifeboat-receipt-RUN)'),
      new Option('--evaluation [name]', 'the newest evaluation, of one or of all, instead'),
    ],
    {
      about: `An in-toto statement about report.json and the verified backups, in a Sigstore
bundle; cosign and openssl check it without a network. It is PASSED only if the
report says proven. The hash of the receipt is an entry of the journal.
--evaluation signs the newest evaluation on record of an instance or a plan.`,
      examples: ['lifeboat receipt last', 'lifeboat receipt --evaluation orders'],
    },
  );
  command(
    program,
    'evidence',
    'pack what an auditor asks for, with what is missing',
    async () => (await import('../commands/evidence/evidence.ts')).evidence,
    [
      new Option('--from <day>', 'the first day of the period (UTC)'),
      new Option('--to <day>', 'the last day of the period (UTC, default: today)'),
      instance('only this instance (repeatable)').argParser(repeated),
      new Option('--plan <name>', 'only this plan and its instances (repeatable)').argParser(repeated),
      new Option('--out <path>', 'a new folder, or a tar if it ends in .tar'),
      new Option('--receipts', 'also make a receipt for each run that has none'),
    ],
    {
      about: `Without --from, the period is the last full half-year; without --out, the folder
is lifeboat-evidence-FROM-TO. The pack has an index, reports and signed bundles of
drills and runs, evaluations, findings, waivers, receipts, and what is missing
against the periods of lifeboat.yaml. It sends nothing. Exit code 0: the record is
intact. 3: it is not pinned as a whole. 1: it is not intact, and the pack says so first.`,
      examples: [
        'lifeboat evidence --from 2026-01-01 --to 2026-06-30',
        'lifeboat evidence --from 2026-01-01 -i orders --out orders.tar --receipts',
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

function defineDrill(program: Command, command: Define): void {
  command(
    program,
    'drill [runbook]',
    'rehearse a recovery on a lab; compare every row',
    async () => (await import('../commands/drill/drill.ts')).drill,
    [
      new Option('--auto', 'without questions, also in a terminal'),
      new Option('--report <dir>', 'keep the drill below this folder'),
      new Option('--plan', 'lose a region of eight instances; a plan recovers it').conflicts(['scenario']),
      revision(),
      new Option('--scenario <name>', 'what goes wrong, see `lifeboat lab --scenario list`'),
      new Option('--junit <file>', 'also write the result as JUnit XML'),
      new Option('--keep <number>', 'then remove the oldest drills: keep this many'),
    ],
    {
      about: `It starts the simulated service on real PostgreSQL, with an application that
keeps writing. Without RUNBOOK it plays all of it: a rotation, the loss of a
region, an accidental DELETE. The lab is gone afterwards. Journal and reports
stay in a folder of their own, by default below LIFEBOAT_HOME/drills.`,
      examples: [
        'lifeboat drill',
        'lifeboat drill restore-backup --scenario lost-answers',
        'lifeboat drill --auto --report ./evidence --keep 12 --junit drill.xml',
      ],
    },
  );
}

function defineNotify(program: Command, command: Define): void {
  const notify = group(program, 'notify', 'deliver notifications, or try the targets', {
    about: `The targets are in lifeboat.yaml (\`notify\`). Commands that write deliver by
themselves; what is left is sent here, for instance by a timer.`,
  });
  command(
    notify,
    'send',
    'deliver what is due; check whether a drill is due',
    async () => (await import('../commands/notify/notify.ts')).notifySend,
    [new Option('--all', 'also what waits to be retried, or was given up')],
    {
      about: `Exit code 0 when each target took what it was sent, 1 otherwise. A target may
get a notification twice; its \`id\` is the same.`,
      examples: ['lifeboat notify send', 'lifeboat notify send --all'],
    },
  );
  command(
    notify,
    'test [target]',
    'send a test to one target, or to each',
    async () => (await import('../commands/notify/notify.ts')).notifyTest,
    [],
    { about: 'It shows what each answered, and leaves nothing on record.' },
  );
}

function definePrune(program: Command, command: Define): void {
  command(
    program,
    'prune',
    'remove old drills, downloads and rehearsals',
    async () => (await import('../commands/prune/prune.ts')).prune,
    [
      new Option(
        '--older-than <time>',
        'what was last used longer ago than this, such as 90d',
      ).makeOptionMandatory(),
      new Option('--drills', 'only drills'),
      new Option('--downloads', 'only backups that runs have downloaded'),
      new Option('--homes', 'only homes of rehearsals that are no drill'),
      new Option('--yes', 'remove without asking'),
    ],
    {
      about: `It shows first what it would remove. It never removes what proves something
that is still in force, and nothing of the journal.`,
      examples: ['lifeboat prune --older-than 90d', 'lifeboat prune --older-than 365d --drills --yes'],
    },
  );
}

function defineStatus(program: Command, command: Define): void {
  command(
    program,
    'status [instance...]',
    'show whether each instance could be recovered now',
    async () => (await import('../commands/status/status.ts')).status,
    [
      instance('only this instance (repeatable)').argParser(repeated),
      new Option('--prometheus <file>', 'also write metrics for the textfile collector'),
      new Option('--limit <duration>', 'how long each may take, at most 1h (default: 20s)'),
    ],
    {
      about: `It sends only GETs. The exit code is 1 when an instance could not be recovered
now, or when nothing shows that it could be.`,
      examples: [
        'lifeboat status',
        'lifeboat status orders -o json',
        'lifeboat status --prometheus /var/lib/node_exporter/lifeboat.prom',
      ],
    },
  );
}

function defineInit(program: Command, command: Define): void {
  command(
    program,
    'init',
    'write a config, and try what it says',
    async () => (await import('../commands/init/init.ts')).init,
    [
      new Option('--url <url>', 'the dashboard address that `cf service` prints'),
      new Option('--name <name...>', 'its name; without --url, instances of cf'),
      new Option('--revision <revision>', '61, 62, v0 or auto (default: found out by GETs)').choices([
        '61',
        '62',
        'v0',
        'auto',
      ]),
      new Option('--token-command <command>', 'a shell command that prints the access token').conflicts([
        'tokenEnv',
        'tokenFile',
      ]),
      new Option('--token-env <variable>', 'the variable that holds it').conflicts('tokenFile'),
      new Option('--token-file <file>', 'the file that holds it'),
      new Option('--ca <file>', 'PEM file with further certificate authorities'),
      new Option('--untested', 'write it even when an instance does not answer'),
      new Option('--print', 'print the config to stdout, write nothing'),
      new Option('--confirm <file>', 'replace the file of this name'),
      new Option('--yes', 'ask nothing; without --url, take all that cf shows'),
    ],
    {
      about: `In a terminal it asks. It finds instances by the cf tool where that is logged
in, sends only GETs, and says what each instance answered. It writes where
--config or LIFEBOAT_CONFIG says, else lifeboat.yaml in this folder, and beside
it a JSON Schema for editors. It never writes a token. It replaces a file only
after you type its name, or with --confirm.`,
      examples: [
        'lifeboat init',
        'lifeboat init --yes      # all instances that cf shows',
        'lifeboat init --url URL --name orders --token-file ./token',
      ],
    },
  );
}

function defineFollowUps(program: Command, command: Define): void {
  const list = async () => (await import('../commands/followups/followups.ts')).followUpsList;
  const listing = () => [new Option('--all', 'also those that are done or skipped')];
  const followUps = command(
    program,
    'followups',
    'list, do and close the work that recoveries leave',
    list,
    listing(),
    {
      about: `A run stays open until each of its follow-ups is done or skipped. The list ends
with 3 while one is open; \`done\`, \`skip\` and \`run\` with 0 once it is closed. ID is an id, the beginning of one, RUN:ID, or \`last\`.`,
      examples: [
        'lifeboat followups',
        'lifeboat followups run rebind-orders-api',
        'lifeboat followups done rebind-orders-api --proof "ticket 4711"',
        'lifeboat followups skip rebind-orders-api --reason "retired"',
      ],
    },
  );
  command(followUps, 'list', 'list the open follow-ups; the default', list, listing());
  command(
    followUps,
    'run <id>',
    'have it done by the platform, a command or the run',
    async () => (await import('../commands/followups/followups.ts')).followUpsRun,
    [new Option('--again', 'also if its command was begun before'), ...answering()],
    {
      about: `A command of the config (\`reconnect\`) runs once by itself. When it failed, or nobody knows how it
ended, it runs again only with --again: look first at what it has done.`,
    },
  );
  command(
    followUps,
    'done <id>',
    'report that you did it by hand, with a proof',
    async () => (await import('../commands/followups/followups.ts')).followUpsDone,
    [new Option('--proof <text>', 'what shows that it was done').makeOptionMandatory(), ...answering()],
  );
  command(
    followUps,
    'skip <id>',
    'leave it undone, with a reason for the report',
    async () => (await import('../commands/followups/followups.ts')).followUpsSkip,
    [new Option('--reason <text>', 'why it is not done').makeOptionMandatory(), ...answering()],
  );
}

function defineStore(program: Command, command: Define): void {
  const store = group(program, 'store', 'show, set up or move the store of the journal', {
    about: 'It is SQLite in LIFEBOAT_HOME, or the PostgreSQL of a team.',
  });
  command(
    store,
    'init',
    'make the schema of a team store',
    async () => (await import('../commands/store/init.ts')).storeInit,
  );
  command(
    store,
    'migrate',
    'bring the schema of a team store to this version',
    async () => (await import('../commands/store/migrate.ts')).storeMigrate,
    [],
    {
      about: `First stop everything that works with the store: an older lifeboat cannot open it afterwards.
Nothing is migrated by any other command.`,
    },
  );
  command(
    store,
    'status',
    'show engine, size, growth, signers, holders, queue',
    async () => (await import('../commands/store/status.ts')).storeStatus,
  );
  command(
    store,
    'copy',
    'move all entries into an empty store',
    async () => (await import('../commands/store/copy.ts')).storeCopy,
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
    async () => (await import('../commands/store/endorse.ts')).storeEndorse,
    [
      new Option('--reason <text>', 'how you know that the key is theirs').makeOptionMandatory(),
      new Option('--confirm <installation>', 'the installation, in a script'),
    ],
    { about: 'What it signs is trusted from then on. Compare the key with its owner first.' },
  );
}

/** The commands of the second person, and of the operator who waits for one. */
function defineApprovals(program: Command, command: Define): void {
  command(
    program,
    'approve [request]',
    'sign what a colleague is about to do',
    async () => (await import('../commands/approvals/approve.ts')).approve,
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
    async () => (await import('../commands/approvals/approvals.ts')).approvals,
    [],
    { about: 'Exit code 3 while something waits. `lifeboat approve --help` has the steps.' },
  );
  command(
    approvals,
    'accept <run> <signature>',
    'check a signature and hand it to the run',
    async () => (await import('../commands/approvals/approvals.ts')).approvalsAccept,
  );
  command(
    approvals,
    'withdraw <run>',
    'take a request or an approval back',
    async () => (await import('../commands/approvals/approvals.ts')).approvalsWithdraw,
    [new Option('--reason <text>', 'why, for the record').makeOptionMandatory()],
    { about: 'Possible until the name is typed in the run.' },
  );
}
