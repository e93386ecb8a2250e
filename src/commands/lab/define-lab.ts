import { type Command, Option } from 'commander';
import type { Define } from '../../cli/define.ts';
import { labOptions, revision } from '../run/run-options.ts';

export function defineLab(program: Command, command: Define): void {
  command(
    program,
    'lab',
    'run the simulated service on this machine',
    async () => (await import('./lab.ts')).lab,
    [
      new Option('--out <file>', 'write the config into this new file'),
      new Option('--port <n>', 'port on 127.0.0.1 (default: any that is free)'),
      revision(),
      new Option('--folder <dir>', 'a new folder for its files; removed at the end'),
      ...labOptions(),
      ...simulatedOptions(),
    ],
    {
      about: `It prints a lifeboat.yaml, or writes it with --out, and runs until Ctrl-C.
Instances, backups and archives are those of real PostgreSQL. Everything that
it made is removed at its end, but for the file of --out.
KIND of an instance is standard, archiving, or one of them with :empty.
With --simulated there are N instances and their targets without databases:
every answer says so, and no run on them proves anything.`,
      notes: [FAULTS, ENDPOINTS],
      examples: [
        'lifeboat lab --out lifeboat.yaml',
        'lifeboat lab -i orders:archiving -i orders-dr:standard:empty',
        'lifeboat lab --scenario lost-answers',
        'lifeboat lab --simulated 10000 --faults fail=1%,lost=1%',
      ],
    },
  );
  command(
    program,
    'lab-query <name>',
    'ask what the sample application of a running lab holds',
    async () => (await import('./lab.ts')).labQuery,
    [new Option('--folder <dir>', 'the folder of the lab').makeOptionMandatory()],
    { hidden: true, hasNoForm: true },
  );
  command(
    program,
    'lab-app <file>',
    'the sample application of a lab, in a single executable',
    async () => (await import('./lab.ts')).labApp,
    [],
    { hidden: true, hasNoForm: true },
  );
}

function simulatedOptions(): Option[] {
  return [
    new Option('--simulated <n>', 'n instances and their targets, without databases'),
    new Option('--faults <shares>', 'simulated: how much goes wrong, see below'),
    new Option('--seed <n>', 'simulated: what goes wrong where (default: 1)'),
    new Option('--task-time <time>', 'simulated: how long a task takes: 2s, or 1s-5s'),
    new Option('--late-by <time>', 'simulated: how late an answer is (default: 20m)'),
  ];
}

const FAULTS = `SHARES of a simulated lab are of all its instances, exactly, at each call that
changes something: the seed decides which, and not the order of the calls.
  fail=1%                              the task that the call starts fails
  lost=1%                              it is done, and its answer is lost
  late=0.1%                            it is done, and its answer comes late`;

const ENDPOINTS = `Change it while it runs, over HTTP, with the token that it names:
  GET    /lab                          what runs, and what goes wrong
  GET    /lab/calls                    the changes that were carried out
  GET    /lab/counts?instance=NAME     how many of each, of one or of all
  POST   /lab/faults                   {"method":"POST","path":"/backups",
                                        "effect":{"kind":"drop","when":"after"}}
  DELETE /lab/faults                   nothing goes wrong any more
  POST   /lab/scenario                 {"name":"lost-answers"}
  POST   /lab/instances/NAME/disaster  {"lost":true}
  DELETE /lab/instances/NAME           somebody deletes the instance
  POST   /lab/instances/NAME/bindings  {"app":"orders-api"}
  POST   /lab/clock                    {"advance":"30d"}, {"rate":60}
  POST   /lab/settings                 {"router":"30s"}
  POST   /lab/tokens                   {"expire":true}
  GET    /openapi.json                 the service in OpenAPI 3.1`;
