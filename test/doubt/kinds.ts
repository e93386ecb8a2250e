import type { Triggered } from '../../machines/parts/task-data.ts';
import type { OnceActivity } from '../../src/activities/activity.ts';
import {
  createBackup,
  performRecovery,
  restoreBackup,
  restoreToTime,
} from '../../src/activities/begin-task.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import type { ModelTask, World } from '../activities/world.ts';

export const IN_FLIGHT_MS = 20_000;
export const START_MS = Date.parse('2026-03-01T03:00:00.250Z');
export const HOUR_MS = 3_600_000;

/** What a task does: the backup that it uses, and from when the data is. */
export interface Content {
  readonly backup: number;
  readonly from: number;
}

/** A request whose answer is lost, and what others ask for beside it. */
export interface Kind {
  readonly what: string;
  readonly ours: Content;
  /**
   * What colleagues trigger that is not what we asked for: of the same way of restoring, and of the others.
   */
  readonly theirs: readonly Content[];
  /** Whether what the service says of every task of theirs distinguishes it from ours. */
  readonly isDistinct: boolean;
  /** Whether ours can be known by what the service says of it, where the answer was lost. */
  readonly isKnown: boolean;
  /** Whether the deprecated version has the call. */
  readonly isInV0: boolean;
  readonly deps: (world: World) => ActivityDeps;
  readonly verb: (deps: ActivityDeps) => OnceActivity<never, Triggered>;
  readonly input: (world: World) => object;
}

/** The backups of the instance itself: ids 1 to 3, one every hour. */
export const OWN: readonly ModelTask[] = [1, 2, 3].map((id) => ({
  id,
  atMs: ownTime(id),
  runsMs: 9_000,
  backup: 0,
  from: 0,
}));

export function ownTime(id: number): number {
  return START_MS - (5 - id) * HOUR_MS;
}

const ELSEWHERE = { backup: 2, from: START_MS - 1_234_567 };
/** A colleague's point-in-time restore: it names the backup it began with, and another time. */
const POINT_IN_TIME = { backup: 3, from: START_MS - 999_999 };

export const KINDS: readonly Kind[] = [
  {
    what: 'backup',
    ours: { backup: 0, from: 0 },
    theirs: [{ backup: 0, from: 0 }],
    isDistinct: false,
    isKnown: true,
    isInV0: true,
    deps: (world) => world.depsForBackups(IN_FLIGHT_MS),
    verb: createBackup as never,
    input: () => ({}),
  },
  {
    what: 'restore of a backup',
    ours: { backup: 2, from: ownTime(2) },
    theirs: [{ backup: 1, from: ownTime(1) }, POINT_IN_TIME, { backup: 9, from: ELSEWHERE.from }],
    isDistinct: true,
    isKnown: true,
    isInV0: true,
    deps: (world) => world.deps(IN_FLIGHT_MS),
    verb: restoreBackup as never,
    input: () => ({ backup: 2 }),
  },
  {
    what: 'recovery of another instance, whose backup happens to have the id of one here',
    ours: ELSEWHERE,
    theirs: [{ backup: 2, from: ownTime(2) }],
    isDistinct: false,
    isKnown: false,
    isInV0: false,
    deps: (world) => world.deps(IN_FLIGHT_MS),
    verb: performRecovery as never,
    input: () => ({ backupGuid: 'guid', fingerprint: 'cccccccccccc' }),
  },
  {
    what: 'recovery of a known backup of another instance, beside recoveries of other ones',
    ours: { backup: 7, from: START_MS - 1_234_567 },
    theirs: [{ backup: 8, from: START_MS - 2_345_678 }, { backup: 2, from: ownTime(2) }, POINT_IN_TIME],
    isDistinct: false,
    isKnown: true,
    isInV0: false,
    deps: (world) => world.deps(IN_FLIGHT_MS),
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
    theirs: [POINT_IN_TIME, { backup: 2, from: ownTime(2) }, ELSEWHERE],
    isDistinct: false,
    isKnown: true,
    isInV0: false,
    deps: (world) => world.deps(IN_FLIGHT_MS),
    verb: restoreToTime as never,
    input: (world) => ({ targetTime: world.stamp(START_MS - 777_777) }),
  },
];
