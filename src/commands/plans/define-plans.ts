import { type Command, Option } from 'commander';
import { type Define, group, instance } from '../../cli/define.ts';
import { repeated } from '../run/run-options.ts';

/** The commands about recovery plans. */
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
      new Option(
        '--rehearsal',
        'only into scratch instances (rehearsal: true), and without what is left out',
      ),
      new Option('--source-down', 'the source is lost: steps with `when: source-up` are left out'),
      new Option('--confirm <group>', 'confirm this group; repeatable').argParser(repeated),
      new Option('--yes', 'give the recommended answer to every question that has one'),
    ],
    {
      about: `The run pins the text of the plan and its instances. Each step of an instance is a
run of its own. In a script, --confirm names each group whose targets may be
overwritten. It stops, resumable, when everything that is left waits for a person:
exit code 3. \`lifeboat resume RUN\` goes on.`,
      examples: [
        'lifeboat plans run region-west',
        'lifeboat plans run region-west --confirm data --confirm services',
        'lifeboat plans run region-west --rehearsal',
      ],
    },
  );
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
    'evaluate',
    'evaluate each instance, and record what changed',
    async () => (await import('./evaluate.ts')).plansEvaluate,
    [
      instance('only this instance, with every check'),
      new Option('--limit <duration>', 'how long each may take, at most 1h (default: 20s)'),
    ],
    {
      about: `It sends only GETs. An instance is PROVEN, READY, NOT READY or UNKNOWN. Exit
code 1 when one is NOT READY, 3 when one is UNKNOWN and none NOT READY. An entry
is written only for an instance whose verdict or findings changed.`,
      examples: ['lifeboat plans evaluate', 'lifeboat plans evaluate -i orders -o json'],
    },
  );
  command(plans, 'list', 'list the plan files', async () => (await import('./list.ts')).plansList, [], {
    examples: ['lifeboat plans list'],
  });
}
