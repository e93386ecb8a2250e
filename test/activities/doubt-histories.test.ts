import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Triggered } from '../../machines/parts/verbs.ts';
import type { OnceActivity } from '../../src/activities/activity.ts';
import { createBackup } from '../../src/activities/create-backup.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { performRecovery } from '../../src/activities/perform-recovery.ts';
import { restoreBackup } from '../../src/activities/restore-backup.ts';
import { restoreToTime } from '../../src/activities/restore-to-time.ts';
import { contextOf, type Habits, type ModelTask, settle, World } from './world.ts';

/*
 * Generated histories of a service whose list is truthful: what was there before, what colleagues and schedules trigger meanwhile, when (and
 * whether) our own request arrives, clocks that differ and are set, and all the ways in which a service tells less than it could.
 * Every decision is held against what really happened. LIFEBOAT_HISTORIES sets how many there are.
 */
const HISTORIES = Number(process.env['LIFEBOAT_HISTORIES'] ?? 20_000);
const SETTLE_MS = 20_000;
const START_MS = Date.parse('2026-03-01T03:00:00.250Z');

interface Kind {
  readonly what: string;
  readonly ours: { readonly backup: number; readonly from: number };
  /** What colleagues trigger that is not what we asked for. */
  readonly theirs: { readonly backup: number; readonly from: number };
  /** Whether a task of theirs can be told from ours by what the service says of it. */
  readonly canBeTold: boolean;
  readonly deps: (world: World) => ActivityDeps;
  readonly verb: (deps: ActivityDeps) => OnceActivity<never, Triggered>;
  readonly input: (world: World) => object;
}

const HOUR_MS = 3_600_000;
/** The backups of the instance itself: ids 1 to 3, one every hour. */
const OWN: readonly ModelTask[] = [1, 2, 3].map((id) => ({
  id,
  atMs: START_MS - (5 - id) * HOUR_MS,
  runsMs: 9_000,
  backup: 0,
  from: 0,
}));
const ownTime = (id: number) => START_MS - (5 - id) * HOUR_MS;

const KINDS: readonly Kind[] = [
  {
    what: 'backup',
    ours: { backup: 0, from: 0 },
    theirs: { backup: 0, from: 0 },
    canBeTold: false,
    deps: (world) => world.depsForBackups(SETTLE_MS),
    verb: createBackup as never,
    input: () => ({}),
  },
  {
    what: 'restore of a backup',
    ours: { backup: 2, from: ownTime(2) },
    theirs: { backup: 1, from: ownTime(1) },
    canBeTold: true,
    deps: (world) => world.deps(SETTLE_MS),
    verb: restoreBackup as never,
    input: () => ({ backup: 2 }),
  },
  {
    what: 'recovery of another instance, whose backup happens to have the id of one here',
    ours: { backup: 2, from: START_MS - 1_234_567 },
    theirs: { backup: 2, from: ownTime(2) },
    canBeTold: false,
    deps: (world) => world.deps(SETTLE_MS),
    verb: performRecovery as never,
    input: () => ({ backupGuid: 'guid', fingerprint: 'cccccccccccc' }),
  },
  {
    what: 'recovery of a known backup of another instance, beside recoveries of other ones',
    ours: { backup: 7, from: START_MS - 1_234_567 },
    theirs: { backup: 8, from: START_MS - 2_345_678 },
    canBeTold: false,
    deps: (world) => world.deps(SETTLE_MS),
    verb: performRecovery as never,
    input: (world) => ({
      backupGuid: 'guid-1742693407644',
      fingerprint: 'cccccccccccc',
      expectFrom: { triggeredAt: world.stamp(START_MS - 1_234_567) },
    }),
  },
  {
    what: 'restore to a point in time',
    ours: { backup: 3, from: START_MS - 777_777 },
    theirs: { backup: 3, from: START_MS - 999_999 },
    canBeTold: false,
    deps: (world) => world.deps(SETTLE_MS),
    verb: restoreToTime as never,
    input: (world) => ({ targetTime: world.stamp(START_MS - 777_777) }),
  },
];

const habits = fc.record({
  skewMs: fc.oneof(fc.constant(0), fc.integer({ min: -600_000, max: 600_000 })),
  tellsDate: fc.oneof(
    { weight: 9, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  stamps: fc.constantFrom('milliseconds', 'seconds', 'zoneless', 'offset'),
  leavesOut: fc.oneof(
    { weight: 8, arbitrary: fc.constant('nothing') },
    { weight: 2, arbitrary: fc.constantFrom('triggered_at', 'backup_id', 'restored_from') },
  ),
  thereMs: fc.integer({ min: 0, max: 2_000 }),
  backMs: fc.integer({ min: 0, max: 2_000 }),
});

const history = fc.record({
  habits,
  before: fc.array(
    fc.record({
      agoMs: fc.integer({ min: 3_000, max: 90 * HOUR_MS }),
      backup: fc.integer({ min: 1, max: 3 }),
    }),
    {
      maxLength: 8,
    },
  ),
  gaps: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 13, maxLength: 13 }),
  runsMs: fc.integer({ min: 0, max: 40_000 }),
  /** Never none: what is sent at the moment of the baseline would be in it. */
  sealingMs: fc.integer({ min: 1, max: 20_000 }),
  /** After the arming; the request is lost for good without it. */
  arrivesMs: fc.option(fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: SETTLE_MS }))),
  /** By the time after the baseline was read off. */
  colleagues: fc.oneof(
    fc.constant<{ afterMs: number; same: boolean }[]>([]),
    fc.array(fc.record({ afterMs: fc.integer({ min: 1, max: 50_000 }), same: fc.boolean() }), {
      maxLength: 3,
    }),
  ),
  accepted: fc.oneof(
    { weight: 3, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  /** Ids begin again at 1 after the baseline. */
  reusesIds: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  /** Our clock is set, before the arming or at some time after it. */
  step: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({
        byMs: fc.oneof(
          fc.integer({ min: -600_000, max: -20_000 }),
          fc.integer({ min: 20_000, max: 600_000 }),
        ),
        afterArmMs: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 15_000 })),
      }),
    },
  ),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

test.for(KINDS)(
  'over generated histories, what became of a lost request is decided as it was, or asked: $what',
  { timeout: 600_000 },
  async (kind) => {
    const seen = { landed: 0, absent: 0, ambiguous: 0 };
    await fc.assert(
      fc.asyncProperty(history.filter(isTellable), async (told) => {
        seen[await judgeOne(kind, told)] += 1;
      }),
      { numRuns: Math.ceil(HISTORIES / KINDS.length) },
    );
    // All three ends occur, so none of the promises above is empty.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(HISTORIES / 200);
  },
);

/** A service that gives neither times nor fresh ids, or a clock that is set beside one that is not told, leaves nothing to go by. */
function isTellable({ habits: { leavesOut, tellsDate }, reusesIds, step }: History): boolean {
  return !(reusesIds && leavesOut === 'triggered_at') && (step === undefined || tellsDate);
}

async function judgeOne(kind: Kind, told: History): Promise<'landed' | 'absent' | 'ambiguous'> {
  const readOffMs = START_MS + told.habits.thereMs;
  const armMs = readOffMs + told.habits.backMs + told.sealingMs;
  const arrives = told.accepted ? (told.arrivesMs ?? 0) % 1_000 : told.arrivesMs;
  const tasks = tasksOf(kind, told, readOffMs, arrives === null ? undefined : armMs + arrives);
  const all: Habits = {
    ...told.habits,
    stepMs: told.step?.byMs ?? 0,
    stepAtMs: told.step === undefined ? Number.POSITIVE_INFINITY : armMs + told.step.afterArmMs,
  };
  const world = new World(
    START_MS,
    tasks.map(({ task }) => task),
    OWN,
    all,
  );
  const verb = kind.verb(kind.deps(world));
  const input = { intent: 'I', ...kind.input(world) } as never;
  const baseline = await prepare(verb, input, world);
  world.trueMs = armMs;
  const armedAt = world.now().toISOString();
  const lost = told.accepted
    ? { code: 'service.no-id', shortMessage: '', hints: [], evidence: {} }
    : undefined;
  const judgement = await settle(verb, input, world, { baseline, armedAt, lost });

  const fresh = tasks.filter(({ task }) => task.atMs > readOffMs);
  const shown = fresh.filter(({ task }) => task.atMs <= world.readOffMs);
  const facts = { kind, told, judgement, shown };
  if (judgement.verdict === 'landed') {
    const { output } = judgement;
    const adopted = shown.find(({ task }) => output.landed && task.id === output.id);
    expect(adopted?.by, context(facts)).toMatch(/^(us|the same)$/);
    const rivals = shown.filter(({ by, task }) => by !== 'another' && task.atMs >= armMs);
    expect(rivals.length, context(facts)).toBeLessThanOrEqual(1);
  }
  if (judgement.verdict === 'absent') {
    expect(arrives, context(facts)).toBe(null);
    expect(world.trueMs, context(facts)).toBeGreaterThanOrEqual(armMs + SETTLE_MS);
  }
  if (isClear(kind, told)) {
    expect(judgement.verdict, context(facts)).toBe(arrives === null ? 'absent' : 'landed');
  }
  return judgement.verdict;
}

/** Nothing is left out, nobody does anything that looks like ours: then nobody has to be asked. */
function isClear(
  { canBeTold }: Kind,
  { habits: { leavesOut, tellsDate }, colleagues, reusesIds, step }: History,
): boolean {
  const isAlone = colleagues.every(({ same }) => canBeTold && !same);
  return leavesOut === 'nothing' && tellsDate && isAlone && !reusesIds && step === undefined;
}

interface Happened {
  readonly task: ModelTask;
  readonly by: 'us' | 'the same' | 'another' | 'before';
}

function tasksOf(kind: Kind, told: History, readOffMs: number, arrivesAtMs: number | undefined): Happened[] {
  const before = told.before.map(({ agoMs, backup }) => ({
    atMs: START_MS - agoMs,
    backup,
    from: ownTime(backup),
    by: 'before' as const,
  }));
  const theirs = told.colleagues.map(({ afterMs, same }) => ({
    atMs: readOffMs + afterMs,
    ...(same ? kind.ours : kind.theirs),
    by: same || kind.what === 'backup' ? ('the same' as const) : ('another' as const),
  }));
  const ours = arrivesAtMs === undefined ? [] : [{ atMs: arrivesAtMs, ...kind.ours, by: 'us' as const }];
  let id = 0;
  let hasBegunAgain = !told.reusesIds;
  return [...before, ...theirs, ...ours]
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ by, ...task }, index) => {
      if (by !== 'before' && !hasBegunAgain) {
        hasBegunAgain = true;
        id = 0;
      }
      id += told.gaps[index] ?? 1;
      return { task: { id, runsMs: told.runsMs, ...task }, by };
    });
}

async function prepare(verb: OnceActivity<never, Triggered>, input: never, world: World) {
  const prepared = await verb.prepare(
    input,
    contextOf(() => world.now()),
  );
  if (!prepared.ok) throw new Error(prepared.failure.shortMessage);
  return prepared.output;
}

function context(facts: object): string {
  return JSON.stringify(facts, undefined, 1);
}
