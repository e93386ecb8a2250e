import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { allRunbooks } from '../../machines/index.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import { leafText } from '../../src/store/canonical.ts';
import { fieldsOf, type StreamName } from '../../src/store/journal.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { builtProduct, type Product } from '../bench-kit/product.ts';
import { ANSWERED, type BenchOptions, openBench, ROTATE, type TestBench } from '../bench-kit/test-bench.ts';
import { CASES, type Flow, runFlow, V0_CASES } from '../e2e/flows.ts';

/*
 * `node test/histories/record.ts RUNBOOK…`: runs runbooks with the built product against the foreign
 * service, in several ways each, and writes the journals of the runs to
 * `test/histories/<runbook>-<version>/<ending>.jsonl`. To be called once for each version that is released;
 * what is recorded then is replayed for ever and never recorded again. Runs name the host that they are
 * driven on, so this goes on under another name for it (`unshare`, on Linux, as root).
 */
const HOST = 'recorder';
if (hostname() !== HOST) {
  const named = ['--uts', 'sh', '-c', `hostname ${HOST} && exec "$@"`, 'sh', process.execPath];
  const { status } = spawnSync('unshare', [...named, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

interface Ending {
  readonly runbook: string;
  readonly name: string;
  readonly options?: BenchOptions;
  /** Whether something goes wrong with this call, the n-th that changes something. */
  readonly trouble?: (call: Call, nth: number, bench: TestBench) => Trouble | undefined;
  perform(bench: TestBench): Promise<void>;
}

const LOST_DONE: Trouble = { answer: 'lost' };
const LOST_FOR_EVER: Trouble = { work: false, answer: 'lost' };

const ROTATIONS: readonly Ending[] = [
  { runbook: 'rotate-key', name: 'proven', perform: async (bench) => mustEnd(bench.rotate(), 0) },
  {
    runbook: 'rotate-key',
    name: 'adopted-after-a-lost-answer',
    trouble: ({ method }) => (method === 'POST' ? LOST_DONE : undefined),
    perform: async (bench) => mustEnd(bench.rotate(), 0),
  },
  {
    runbook: 'rotate-key',
    name: 'sent-again-after-proven-absent',
    trouble: (_call, nth) => (nth === 2 ? LOST_FOR_EVER : undefined),
    perform: async (bench) => mustEnd(bench.rotate(), 0),
  },
  {
    runbook: 'rotate-key',
    name: 'paused-for-a-token',
    trouble: ({ method }, _nth, { server }) => {
      if (method === 'PATCH') server.acceptOnly(CANARIES.otherToken);
      return undefined;
    },
    perform: async (bench) => {
      await mustEnd(bench.rotate(), 4);
      writeFileSync(bench.tokenFile, CANARIES.otherToken);
      await mustEnd(bench.run('resume', ...ANSWERED), 0);
    },
  },
  {
    runbook: 'rotate-key',
    name: 'waiting-then-abandoned',
    perform: async (bench) => {
      await mustEnd(bench.run(...ROTATE), 3);
      await mustEnd(bench.run('resume', '--abandon', 'the window is over'), 0);
    },
  },
];

const RECOVERIES: readonly Ending[] = [...CASES, ...V0_CASES].flatMap((flow): Ending[] => {
  const name = `${flow.name.replaceAll(/[^a-z]+/g, '-')}-${flow.revision === 'v0' ? '' : 'r'}${flow.revision}`;
  const [runbook = ''] = flow.name.split(' ');
  const options = { revision: flow.revision };
  let isArmed = false;
  return [
    { runbook, name, options, perform: (bench) => runToCode(bench, flow, [flow.code]) },
    {
      runbook,
      name: `${name}-lost-answer`,
      options,
      trouble: () => {
        if (!isArmed) return undefined;
        isArmed = false;
        return LOST_DONE;
      },
      perform: (bench) =>
        runToCode(bench, flow, [flow.code, 5], () => {
          isArmed = true;
        }),
    },
  ];
});

const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;
const ALONE = ['--no-follow-ups', 'a script does them'] as const;

/** Single commands: what each is called, its words, its exit code and what goes wrong with its call. */
const SINGLE: readonly Ending[] = (
  [
    ['create-backup', ['backups', 'create', ...ORDERS, '--yes'], 0],
    ['create-backup-waited', ['backups', 'create', ...ORDERS, '--yes', '--wait'], 0],
    ['create-backup-lost-answer', ['backups', 'create', ...ORDERS, '--yes'], 0, LOST_DONE],
    ['create-backup-declined', ['backups', 'create', ...ORDERS], 3],
    ['restore-backup', ['backups', 'restore', '900041', ...SURE, '--wait'], 0],
    ['restore-backup-alone', ['backups', 'restore', '900041', ...SURE, ...ALONE], 0],
    ['restore-backup-never-arrived', ['backups', 'restore', '900041', ...SURE], 1, LOST_FOR_EVER],
    ['restart-waited', ['instance', 'restart', ...ORDERS, '--yes', '--wait'], 0],
    ['restart-in-doubt', ['instance', 'restart', ...ORDERS, '--yes'], 5, LOST_FOR_EVER],
    ['set-key', ['backup-config', 'set', '--new-key', '--retention-time', '30', ...SURE], 0],
    ['set-settings', ['backup-config', 'set', '--retention-time', '30', ...ORDERS, '--yes'], 0],
    ['prepare', ['dr', 'prepare', ...ORDERS, '--yes'], 0],
    ['prepare-with-key', ['dr', 'prepare', '--new-key', ...SURE], 0],
  ] as const
).map(([name, words, code, trouble]) => ({
  runbook: 'single-change',
  name,
  ...(trouble === undefined ? {} : { trouble: () => trouble }),
  perform: async (bench) => mustEnd(bench.run(...words), code),
}));

/** Steps of a plan: what each is called, the step, the decision about it, and how the plan's command ends. */
const STEPS: readonly Ending[] = (
  [
    ['check-found', 'check: { command: [test, -d, /] }', undefined],
    [
      'check-skipped',
      'check: { command: [test, -f, /none] }',
      ['skip', 'last', 'only/one', '--reason', 'known'],
    ],
    ['command-run', 'command: { argv: [echo, hello], kind: repeatable }', undefined],
    ['command-once', 'command: { argv: [echo, hello], kind: once, landed: [test, -f, /none] }', undefined],
    ['command-already', 'command: { argv: [echo, hello], kind: once, landed: [test, -d, /] }', 'waits'],
    ['manual-done', 'manual: { do: look }', ['done', 'last', 'only/one', '--proof', 'seen in the dashboard']],
    ['wait', 'wait: 1s', undefined],
  ] as const
).map(([name, step, decision]) => ({
  runbook: 'plan-step',
  name,
  perform: async (bench) => {
    mkdirSync(join(bench.folder, 'plans'));
    const text = `plan: steps\ngroups: [{ id: only, steps: [{ id: one, ${step} }] }]\n`;
    writeFileSync(join(bench.folder, 'plans', 'steps.yaml'), text);
    await mustEnd(bench.run('plans', 'run', 'steps'), decision === undefined ? 0 : 3);
    if (decision === undefined || decision === 'waits') return;
    await mustEnd(bench.run('plans', ...decision), 0);
    await mustEnd(bench.run('resume', 'last'), 1);
  },
}));

const wanted = process.argv.slice(2);
const product = builtProduct({ cheapVault: true });
for (const id of wanted) await recordRunbook(product, id);

async function recordRunbook(from: Product, id: string): Promise<void> {
  const version = allRunbooks.find((one) => one.id === id)?.version;
  if (version === undefined) throw new Error(`there is no runbook ${id}`);
  const folder = join(import.meta.dirname, `${id}-${version}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const ending of [...ROTATIONS, ...RECOVERIES, ...SINGLE, ...STEPS].filter(
    ({ runbook }) => runbook === id,
  )) {
    const lines = await recordEnding(from, ending);
    writeFileSync(join(folder, `${ending.name}.jsonl`), `${lines.join('\n')}\n`);
    process.stdout.write(`${id}-${version}/${ending.name}: ${lines.length} entries\n`);
  }
}

/** The last run of a bench: each entry as the text of its leaf. */
async function recordEnding(from: Product, ending: Ending): Promise<readonly string[]> {
  let nth = 0;
  const trouble = (call: Call) => {
    if (call.method === 'GET') return undefined;
    nth += 1;
    return ending.trouble?.(call, nth, bench);
  };
  const bench = await openBench(from, { taskMs: 200, inFlight: '1s', trouble, ...ending.options });
  try {
    await ending.perform(bench);
    const journal = await openReaderOf({ env: bench.env });
    try {
      const of = async (stream: StreamName) =>
        (await journal.read(stream)).some(({ body }) => fieldsOf(body)['runbook'] === ending.runbook);
      let last: StreamName | undefined;
      for (const { stream } of await journal.streams('run/')) if (await of(stream)) last = stream;
      if (last === undefined) throw new Error(`${ending.name} left no run`);
      const lines: string[] = [];
      for await (const entry of journal.log.stored()) if (entry.stream === last) lines.push(leafText(entry));
      return lines;
    } finally {
      await journal.close();
    }
  } finally {
    await bench.close();
  }
}

async function runToCode(
  bench: TestBench,
  flow: Flow,
  codes: readonly number[],
  arm?: () => void,
): Promise<void> {
  const { end } = await runFlow(bench, flow, arm);
  if (!codes.includes(end.code ?? -1)) throw new Error(`${flow.name} ended with ${end.code}: ${end.stderr}`);
}

async function mustEnd(
  running: Promise<{ readonly code: number | null; readonly stderr: string }>,
  code: number,
): Promise<void> {
  const end = await running;
  if (end.code !== code) throw new Error(`it ended with ${end.code} instead of ${code}: ${end.stderr}`);
}
