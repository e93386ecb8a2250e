import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { closeDatabases, freshDatabase } from '../crash/database.ts';
import { canTrace, signallingAt } from '../crash/strace.ts';
import { isPerform, openPlanBench, type PlanBench } from '../plans/plan-bench.ts';
import { randomFrom } from '../random.ts';

/**
 * A plan whose process is killed again and again: 3 groups with 6 instances each, one whose recovery fails,
 * one whose answer is lost, one step that a person does. Half of the kills fall at a moment, half when the
 * process begins a drawn call of the system: a write or sync of the store, or a write to a connection.
 * `KILLS` is how many kills there are at most over all rounds, `SEED` draws them, `STORE` is sqlite or
 * postgres, `KILLED` is a file that gets a line for each that fell.
 */
const KILLS = Number(process.env['KILLS'] ?? 16);
const SEED = Number(process.env['SEED'] ?? 1);
/** How many kills there are of one plan at most. */
const PER_ROUND = 8;
const STORES = (process.env['STORE'] ?? 'sqlite,postgres').split(',');

const GROUPS = ['one', 'two', 'three'];
const SIZE = 6;
const AT_ONCE = 2;
/** The instance whose first recovery fails, and the one whose first answer is lost, by number. */
const FAILS = 'db-3-dr';
const LOSES = 'db-8-dr';

function planText(folder: string): string {
  const groups = GROUPS.map((id, at) => {
    const names = Array.from({ length: SIZE }, (_, index) => `db-${at * SIZE + index + 1}`);
    return `  - id: ${id}
${at === 0 ? '' : `    after: [${GROUPS[at - 1]}]\n`}    for: { instances: [${names.join(', ')}], target: "{name}-dr" }
    waves: [1, 3]
    maxConcurrency: ${AT_ONCE}
    steps:
      - { id: recover, runbook: disaster-recovery, onFailure: continue, because: a test says so, undo: none }
`;
  });
  const mark = join(folder, 'switched');
  const command = `{ argv: [sh, -c, "echo x >> ${mark}"], kind: once, landed: [test, -f, ${mark}], timeout: 1s }`;
  return `groups:
${groups.join('')}  - id: people
    after: [three]
    steps:
      - { id: switch, command: ${command} }
      - { id: look, manual: { do: look at it } }
`;
}

/** The first recovery of one target fails, and the answer of another is lost although the work is done. */
function troubles(): (call: Call) => Trouble | undefined {
  const left = new Map<string, Trouble>([
    [FAILS, { task: { fails: true } }],
    [LOSES, { answer: 'lost' }],
  ]);
  return (call) => {
    if (!isPerform(call) || call.instance === undefined) return undefined;
    const trouble = left.get(call.instance);
    left.delete(call.instance);
    return trouble;
  };
}

/** When a process is killed: after a time, or when one of its threads begins its n-th call of this name. */
type Moment = { readonly ms: number } | { readonly call: string; readonly nth: number };

const CALLS: Readonly<Record<string, readonly string[]>> = {
  sqlite: ['fdatasync', 'pwrite64', 'writev'],
  postgres: ['write', 'writev'],
};
const tracing = canTrace();

function momentOf(store: string, draw: () => number, at: number): Moment {
  const calls = CALLS[store] ?? [];
  const call = calls[Math.floor(draw() * calls.length)];
  const share = draw();
  // Early calls are those of the start, and of a run that was left in the middle of something.
  if (tracing && at % 2 === 1 && call !== undefined) return { call, nth: 1 + Math.floor(share ** 2 * 90) };
  return { ms: at === 0 ? share * 6_000 : 300 + share * 4_000 };
}

/**
 * Kills the process that drives the plan at a moment; resolves with its exit code, null if it was killed.
 */
async function killed(bench: PlanBench, words: readonly string[], moment: Moment): Promise<number | null> {
  const code = await struck(bench, words, moment);
  const file = process.env['KILLED'];
  if (code === null && file !== undefined) appendFileSync(file, `${JSON.stringify(moment)}\n`);
  return code;
}

async function struck(bench: PlanBench, words: readonly string[], moment: Moment): Promise<number | null> {
  if ('call' in moment) {
    const { ended } = bench.startUnder(signallingAt(moment.call, moment.nth), ...words);
    return ended.then(({ code }) => code);
  }
  const { ms } = moment;
  const { child, ended } = bench.start(...words);
  const over = ended.then(({ code }) => code);
  const first = await Promise.race([over, delay(ms).then(() => 'late' as const)]);
  if (first !== 'late') return first;
  child.kill('SIGKILL');
  return over;
}

/** Has every recovery tried again that waits for a person. */
async function repeatAll({ good, run }: PlanBench): Promise<void> {
  // The hold of a process that died before the run was begun refuses the next one, and nothing is asked.
  if ((await run('plans', 'show', 'last')).code !== 0) return;
  for (const { group, instance, step, state } of await lanesOf(good))
    if (state === 'waiting' && step === 'recover')
      await good('plans', 'retry', 'last', `${group}/${instance}/${step}`);
}

interface Lane {
  readonly group: string;
  readonly instance: string;
  readonly step?: string;
  readonly state: string;
}

async function lanesOf(good: PlanBench['good']): Promise<readonly Lane[]> {
  return (JSON.parse(await good('plans', 'show', 'last', '--json')) as { readonly lanes: readonly Lane[] })
    .lanes;
}

describe.each(STORES)('a plan on %s whose process is killed at any moment', (store) => {
  const bench = useQuickBenches();
  const rounds = Math.max(1, Math.round(KILLS / STORES.length / PER_ROUND));

  test.each(Array.from({ length: rounds }, (_, round) => round + 1))(
    'sends every call once, keeps its limits, and forgets no lane (round %i)',
    async (round) => {
      const context = { onTestFinished: (end: () => unknown) => void ends.push(end) };
      const ends: (() => unknown)[] = [];
      const database = store === 'postgres' ? await freshDatabase() : undefined;
      try {
        const opened = await openPlanBench(
          (options) => bench(context as never, options),
          GROUPS.length * SIZE,
          {
            trouble: troubles(),
            ...(database === undefined ? {} : { store: database.address }),
          },
        );
        const { plan, performed, run, folder, good } = opened;
        plan('region', planText(folder));
        const draw = randomFrom(SEED * 1000 + round);
        const begin = ['plans', 'run', 'region', ...GROUPS.flatMap((id) => ['--confirm', id])];
        const resume = ['resume', 'last', '--confirm', GROUPS.join(',')];
        // A process that died before the run was begun leaves nothing to resume.
        const words = async () => ((await run('plans', 'show', 'last')).code === 0 ? resume : begin);
        let code = await killed(opened, begin, momentOf(store, draw, 0));
        for (let kills = 1; kills < PER_ROUND && (code === null || code === 3); kills += 1) {
          // What a process that died left to be asked, is answered, so that there is more to kill.
          if (code === 3) await repeatAll(opened);
          code = await killed(opened, await words(), momentOf(store, draw, kills));
        }
        // From now on nobody kills it. A person waits for the lease of a process that was killed.
        for (let tries = 0; code !== 3 || tries === 0; tries += 1) {
          if (tries > 40) throw new Error('the plan does not come to its manual step');
          const ended = await run(...(await words()));
          code = ended.stderr.includes(' is held by ') ? null : ended.code;
          if (code === 3 && ended.stderr.includes('people look')) break;
          // A process that died before its call left leaves a recovery that never arrived: a person repeats
          // it.
          if (code === 3) await repeatAll(opened);
          if (code === null || ended.code === 5) await delay(500);
        }
        await good('plans', 'done', 'last', 'people/look', '--proof', 'seen by a test');
        const end = await run('resume', 'last');
        expect(end.code, end.stderr).toBe(1);
        expect(Object.entries(performed()).filter(([, times]) => times !== 1)).toEqual([]);
        const most = await opened.mostAtWork();
        for (const id of GROUPS) expect(most[id], id).toBeLessThanOrEqual(AT_ONCE);
        const lanes = await lanesOf(good);
        expect(lanes.filter(({ state }) => state !== 'done')).toMatchObject([
          { target: FAILS, state: 'failed' },
        ]);
        expect(lanes).toHaveLength(GROUPS.length * SIZE + 1);
        const audit = await run('audit', 'verify');
        expect([0, 3], audit.stdout).toContain(audit.code);
      } finally {
        for (const end of ends.toReversed()) await end();
        await database?.drop();
        if (store === 'postgres') await closeDatabases();
      }
    },
  );
});
