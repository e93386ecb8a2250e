import assert from 'node:assert/strict';
import type { Triggered } from '../../machines/parts/task-data.ts';
import type { OnceActivity } from '../../src/activities/activity.ts';
import type { Entry } from '../../src/store/journal.ts';
import { foldSends } from '../../src/store/projections/sends.ts';
import { contextOf, type Habits, lookUntilDecided, type ModelTask, World } from '../activities/world.ts';
import type { History } from './generate.ts';
import { type Content, IN_FLIGHT_MS, type Kind, OWN, ownTime, START_MS } from './kinds.ts';

/** What the margin of the program, the bounds of a skew and times cut to seconds come to at most. */
const CLOCKS_MS = 5_000 + 4_000 + 1_000;

/** What was decided of one history, and whether it had to be waited for. */
export interface Decided {
  readonly verdict: 'landed' | 'absent' | 'ambiguous';
  readonly hasWaited: boolean;
}

/**
 * Lets the program decide one history, and holds the decision against what really happened. Throws when it is
 * wrong.
 */
export async function judgeOne(kind: Kind, history: History): Promise<Decided> {
  const readOffMs = START_MS + history.habits.thereMs;
  const armMs = readOffMs + history.habits.backMs + history.sealingMs;
  const lostMs = armMs + history.flightMs;
  const held = history.arrivesAfterLoss && !history.accepted ? history.flightMs : 0;
  const arrivesMs = history.accepted ? (history.arrivesMs ?? 0) % 1_000 : history.arrivesMs;
  const arrives = arrivesMs === null ? null : arrivesMs + held;
  const tasks = tasksOf(kind, history, { readOffMs, armMs, arrives });
  const world = new World(
    START_MS,
    tasks.map(({ task }) => task),
    OWN,
    habitsOf(kind, history, armMs),
  );
  const verb = kind.verb(kind.deps(world));
  const input = { intent: 'I', ...kind.input(world) } as never;
  const baseline = await prepare(verb, input, world);
  world.trueMs = armMs;
  const armedAt = world.now().toISOString();
  world.trueMs = lostMs;
  const lostAt = lostAtOf(armedAt, world.now(), history);
  const lost = history.accepted
    ? { code: 'service.no-id', shortMessage: '', hints: [], evidence: {} }
    : undefined;
  const judgement = await lookUntilDecided(verb, input, world, { baseline, armedAt, lost, lostAt });

  const shown = tasks.filter(
    ({ task }) => task.atMs > readOffMs - history.habits.lagMs && world.hasShown(task),
  );
  const facts = () => JSON.stringify({ kind: kind.what, history, judgement, shown }, undefined, 1);
  if (judgement.verdict === 'landed') {
    const { output } = judgement;
    const adopted = shown.find(({ task }) => output.landed && task.id === output.id);
    assert.match(String(adopted?.by), /^(us|the same)$/, facts());
    // A colleague's from before our request is not ours, as far as two clocks can tell before from after.
    const canTell =
      history.habits.tellsDate &&
      history.habits.stampMs === 0 &&
      history.habits.leavesOut !== 'triggered_at' &&
      history.step === undefined;
    if (canTell) assert.ok((adopted?.task.atMs ?? 0) >= armMs - CLOCKS_MS, facts());
    const rivals = shown.filter(({ by, task }) => by !== 'another' && task.atMs >= armMs);
    // Any fresh backup serves, and by a clock that is off one of them may seem to be from before.
    if (kind.what !== 'backup' || history.habits.stampMs === 0) assert.ok(rivals.length <= 1, facts());
  }
  if (judgement.verdict === 'absent') {
    assert.equal(arrives, null, facts());
    assert.ok(world.trueMs >= lostMs + IN_FLIGHT_MS, facts());
  }
  const found = kind.isKnown || history.accepted ? 'landed' : 'ambiguous';
  // Absent is said only where the service can be asked for what its list would not show.
  const missing = canBeAbsent(history, tasks)
    ? 'absent'
    : judgement.verdict === 'absent'
      ? 'absent'
      : 'ambiguous';
  if (isClear(kind, history)) assert.equal(judgement.verdict, arrives === null ? missing : found, facts());
  return { verdict: judgement.verdict, hasWaited: world.waited };
}

/** Ids are given one after the other, and one can be asked for; or there is none. */
function canBeAbsent({ gaps, habits }: History, tasks: readonly Happened[]): boolean {
  return tasks.length === 0 ? habits.padding === 0 : gaps[0] === 1 && !habits.isV0;
}

function habitsOf(kind: Kind, history: History, armMs: number): Habits {
  const { habits, step, forgets, before, rollsBackAfterArmMs, cap } = history;
  const newest = before.length === 0 ? undefined : Math.min(...before.map(({ agoMs }) => agoMs));
  return {
    ...habits,
    cap: cap ?? undefined,
    isV0: habits.isV0 && kind.isInV0,
    stepMs: step?.byMs ?? 0,
    stepAtMs: step === undefined ? Number.POSITIVE_INFINITY : armMs + step.afterArmMs,
    forgets:
      forgets === null
        ? undefined
        : { afterMs: armMs + forgets.afterArmMs, olderMs: START_MS - forgets.keepsMs },
    rollsBack:
      rollsBackAfterArmMs === null || newest === undefined
        ? undefined
        : { afterMs: armMs + rollsBackAfterArmMs, fromMs: START_MS - newest },
  };
}

/** Nothing is left out, and nothing done looks like ours: then no person has to be asked. */
function isClear(kind: Kind, history: History): boolean {
  const { habits, colleagues, together, reusesIds, step, forgets, rollsBackAfterArmMs, cap } = history;
  const others = [...colleagues, ...(together === null ? [] : [together])];
  const isAlone = others.every(({ same }) => kind.isDistinct && !same);
  const tellsAll =
    habits.leavesOut === 'nothing' &&
    habits.tellsDate &&
    habits.stampMs === 0 &&
    !(habits.isV0 && kind.what !== 'backup');
  // A list that has lost its newest row, or had a late one of before, proves less.
  const isSteady =
    forgets === null &&
    cap === null &&
    rollsBackAfterArmMs === null &&
    habits.lagMs === 0 &&
    !reusesIds &&
    step === undefined;
  return tellsAll && isAlone && isSteady;
}

/**
 * What the journal says of the loss, by our clock then: the entry of the process that lost it, or of the one
 * that took it up.
 */
function lostAtOf(armedAt: string, now: Date, { diesInFlight, accepted }: History): string | undefined {
  const at = now.toISOString();
  const isDead = diesInFlight && !accepted;
  const entries = [
    { type: 'intent.prepared', at: armedAt, body: { intent: 'I', baseline: null } },
    { type: 'intent.armed', at: armedAt, body: { intent: 'I' } },
    isDead
      ? { type: 'activity.begun', at, body: { key: 'I' } }
      : {
          type: 'intent.outcome',
          at,
          body: { intent: 'I', sent: 'unknown', failure: { code: 'service.timeout' } },
        },
  ];
  return foldSends(entries as unknown as Entry[]).get('I')?.lostAt;
}

interface Happened {
  readonly task: ModelTask;
  readonly by: 'us' | 'the same' | 'another' | 'before';
}

interface Course {
  readonly readOffMs: number;
  readonly armMs: number;
  /** After the arming; null where it is lost for good. */
  readonly arrives: number | null;
}

function tasksOf(kind: Kind, history: History, { readOffMs, armMs, arrives }: Course): Happened[] {
  const before = history.before.map(({ agoMs, backup }) => ({
    atMs: START_MS - agoMs,
    backup,
    from: ownTime(backup),
    by: 'before' as const,
  }));
  const theirs = history.colleagues.map(({ afterMs, same, which }) => ({
    atMs: readOffMs + afterMs,
    ...contentOf(kind, same, which),
  }));
  const beside =
    history.together === null
      ? []
      : [
          {
            atMs: Math.max(readOffMs + 1, armMs + (arrives ?? 0) + history.together.byMs),
            ...contentOf(kind, history.together.same, 0),
          },
        ];
  const ours = arrives === null ? [] : [{ atMs: armMs + arrives, ...kind.ours, by: 'us' as const }];
  let id = history.habits.padding;
  let hasBegunAgain = !history.reusesIds;
  return [...before, ...theirs, ...beside, ...ours]
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ by, ...task }, index) => {
      if (by !== 'before' && !hasBegunAgain) {
        hasBegunAgain = true;
        id = 0;
      }
      id += history.gaps[index] ?? 1;
      return { task: { id, runsMs: history.runsMs, ...task }, by };
    });
}

function contentOf({ ours, theirs, what }: Kind, same: boolean, which: number) {
  const content: Content = same ? ours : (theirs[which % theirs.length] ?? ours);
  return { ...content, by: same || what === 'backup' ? ('the same' as const) : ('another' as const) };
}

async function prepare(verb: OnceActivity<never, Triggered>, input: never, world: World) {
  const prepared = await verb.prepare(
    input,
    contextOf(() => world.now()),
  );
  if (!prepared.ok) throw new Error(prepared.failure.shortMessage);
  return prepared.output;
}
