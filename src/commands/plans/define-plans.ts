import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { repeated } from '../run/run-options.ts';

export function definePlans(program: Command, command: Define): void {
  const plans = group(program, 'plans', 'recovery plans over many instances', {
    about: `A plan is a file, plans/NAME.yaml: which instances are recovered, in which order,
how many at once, and what people do in between. PLAN is its name or its path.`,
  });
  command(
    plans,
    'check <plan>',
    'check a plan file, and say what a run of it would do',
    async () => (await import('./check.ts')).plansCheck,
    [],
    {
      about: `Every mistake with its line and column; then the instances of each wave with
their targets, when a group stops, what is overwritten, the calls that change
something, and how long it takes by earlier runs. Sends nothing. Exit 1 when the
plan can be run and has weaknesses, such as a check that cannot fail.`,
      examples: ['lifeboat plans check region-west', 'lifeboat plans check ./plans/region-west.yaml -o json'],
    },
  );
  command(
    plans,
    'run <plan>',
    'run a plan over all of its instances',
    async () => (await import('./run.ts')).plansRun,
    [
      new Option('--rehearsal', 'change only scratch instances'),
      new Option('--source-down', 'leave out steps with `when: source-up`'),
      new Option('--incident <time>', 'when the incident began: the RTO counts from it'),
      new Option('--confirm <group>', 'confirm this group, or several with commas; repeatable').argParser(
        repeated,
      ),
      new Option('--yes', 'give the recommended answer'),
      new Option('--plain', 'lines instead of the full screen'),
      new Option('--detach', 'leave it to the workers (`lifeboat worker`)').conflicts(['plain']),
    ],
    {
      about: `The run pins the text of the plan and its instances. Each step of an instance is a
run of its own. In a terminal it shows the groups with their instances, and what
waits for you. In a script, --confirm names each group whose targets may be
overwritten. It stops, resumable, when everything that is left waits for a person:
exit code 3. \`lifeboat resume RUN\` goes on. With --detach the workers do all of it,
and what only a person can answer waits for \`lifeboat resume\`.`,
      examples: [
        'lifeboat plans run region-west',
        'lifeboat plans run region-west --confirm data --detach',
        'lifeboat plans run region-west --confirm data --confirm services',
        'lifeboat plans run region-west --rehearsal',
      ],
    },
  );
  command(
    plans,
    'show [run]',
    'show where each instance of a plan stands',
    async () => (await import('./show.ts')).plansShow,
    [],
    {
      about: `By the record alone: it holds nothing and asks nobody. Without RUN it is the only
open run. \`lifeboat watch RUN\` shows it on a screen that goes on with it.`,
      examples: ['lifeboat plans show', 'lifeboat plans show last -o json'],
    },
  );
  defineDecisions(plans, command);
  command(
    plans,
    'fallback <run>',
    'write what is left of a run, for work by hand',
    async () => (await import('./fallback.ts')).plansFallback,
    [new Option('--out <dir>', 'a new folder (default: lifeboat-fallback-RUN)')],
    {
      about: `For people without Lifeboat, its machine or its keys: a script for each runbook
that is left of an instance, begun or not, and a checklist: groups in order, with
waves, waits, manual steps, approvals, checks and commands, and how each is taken
back. It needs no key and sends nothing. Write it again when the run has gone on:
a step must not be done twice.`,
      examples: ['lifeboat plans fallback last', 'lifeboat plans fallback 01KA --out ./rest'],
    },
  );
  command(
    plans,
    'init <name>',
    'write a first plan',
    async () => (await import('./init.ts')).plansInit,
    [new Option('--print', 'print it instead')],
    {
      about: `Instances with a tag become a group each, in the order of the tags; the others
one more. The target of NAME is NAME-dr, or what \`role: target\` and the names suggest.`,
      examples: ['lifeboat plans init region-west', 'lifeboat plans init region-west --print'],
    },
  );
  command(
    plans,
    'evaluate [plan]',
    'evaluate instances and plans, and record it',
    async () => (await import('./evaluate.ts')).plansEvaluate,
    [
      instance('only this instance, with every check'),
      new Option('--limit <duration>', 'how long each may take, at most 1h (default: 20s)'),
    ],
    {
      about: `It sends only GETs. With a PLAN, that plan with its instances and targets: it is as
good as the worst of them and of its own checks. An instance or plan is PROVEN,
READY, NOT READY or UNKNOWN. Exit code 1 when one is NOT READY, 3 when one is
UNKNOWN and none NOT READY. An entry is written only for what changed.`,
      examples: [
        'lifeboat plans evaluate',
        'lifeboat plans evaluate region-west',
        'lifeboat plans evaluate -i orders -o json',
      ],
    },
  );
  command(plans, 'list', 'list the plan files', async () => (await import('./list.ts')).plansList, [], {
    examples: ['lifeboat plans list'],
  });
}

const REASON = () => new Option('--reason <text>', 'why, for the record');

/** Decisions about the run of a plan, also while another process drives it. */
function defineDecisions(plans: Command, command: Define): void {
  const about = `Exit 0 means that it is on record and counts, also where another process drives
the plan. An INSTANCE of a group is written GROUP/INSTANCE, its step
GROUP/INSTANCE/STEP.`;
  const load = async () => import('./decide.ts');
  command(
    plans,
    'pause <run> <group>',
    'start nothing new in a group',
    async () => (await load()).plansPause,
    [REASON()],
    {
      about,
      examples: ['lifeboat plans pause last data --reason "the network team asked"'],
    },
  );
  command(plans, 'resume <run> <group>', 'let a group continue', async () => (await load()).plansResume, [], {
    about: `${about}\nA group that waits because instances have failed continues without them; one that\nwaits for its next wave begins it.`,
    examples: ['lifeboat plans resume last data'],
  });
  command(
    plans,
    'stop <run> [group]',
    'stop a group, or the plan',
    async () => (await load()).plansStop,
    [REASON()],
    {
      about: `${about}\nNothing new starts; what is under way ends. What waits for a person is left: a\nrecovery can be resumed by itself. The last steps of the plan (finally) are still\ndone.`,
      examples: ['lifeboat plans stop last data --reason "wrong target"'],
    },
  );
  command(
    plans,
    'skip <run> <place>',
    'skip a step of an instance',
    async () => (await load()).plansSkip,
    [REASON()],
    {
      about,
      examples: ['lifeboat plans skip last data/orders/count --reason "counted by hand"'],
    },
  );
  command(
    plans,
    'done <run> <place>',
    'state that a step was done outside',
    async () => (await load()).plansDone,
    [new Option('--proof <text>', 'how you know, for the record')],
    { about, examples: ['lifeboat plans done last traffic/dns --proof "change 4711"'] },
  );
  command(
    plans,
    'retry <run> [place]',
    'try a failed step or the evaluation again',
    async () => (await load()).plansRetry,
    [],
    {
      about: `${about}\nIts run is ended first. One that offers no end, or has a call in doubt, has to be answered.
Without PLACE it looks again at the instances of a plan that waits because some
could not be recovered now.`,
      examples: ['lifeboat plans retry last data/orders/recover', 'lifeboat plans retry last'],
    },
  );
  command(
    plans,
    'take-out <run> <place>',
    'go on without an instance',
    async () => (await load()).plansTakeOut,
    [REASON()],
    {
      about: `${about}\nA step of it that waits for a person is left, and can be resumed by itself.`,
      examples: ['lifeboat plans take-out last data/orders --reason "its owner asked"'],
    },
  );
  command(
    plans,
    'take-up <run> <place>',
    'go on with an instance that was taken out',
    async () => (await load()).plansTakeUp,
    [],
    { about, examples: ['lifeboat plans take-up last data/orders'] },
  );
  command(
    plans,
    'source <run> <state>',
    'say whether the source is up or down',
    async () => (await load()).plansSource,
    [],
    {
      about: `${about}\nSteps with \`when: source-up\` or \`source-down\` that have not begun follow it.`,
      examples: ['lifeboat plans source last down'],
    },
  );
}
