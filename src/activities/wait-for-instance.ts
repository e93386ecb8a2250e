import type { InstanceReady } from '../../machines/parts/verbs.ts';
import { formatSeconds } from '../format.ts';
import type { InstanceOverview } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { ReadActivity } from './activity.ts';
import { instantOf } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { type Action, areUpdatesGone, updateLines } from './doubt-action.ts';
import { poll, type Seen } from './poll.ts';
import { no, ok } from './results.ts';
import { watchdog } from './watchdog.ts';

interface Input {
  /** What was asked for; without it the first steady state counts. */
  readonly action?: Action | undefined;
  /** The instance's `updated_at` before the action. */
  readonly updatedAt?: string | undefined;
  /** The updates that were offered before the action, as `updateLines` gives them. */
  readonly updates?: readonly string[] | undefined;
}

/** The states in which an instance can be used (service-api.md section 2.4). */
const STEADY: ReadonlySet<string> = new Set(['provisioned', 'available']);
/** An accepted action may take a moment to show; one that shows nothing for so long is not believed. */
const PATIENCE_MS = 120_000;
/** What shows only that something has changed is believed after so long without anything more; the settle time of the instance, if less. */
const QUIET_MS = 60_000;
/** Nothing lists actions, so there is no history of them. */
const DEFAULT_SECONDS = 900;

/**
 * Waits until an action of the instance is over: a steady state after it was seen in another one, and for an update, some of what was
 * offered no longer being offered. A service may move `updated_at` when it accepts and begin later, so that only begins a quiet time: the
 * action is believed once the instance has been steady and unchanged through it, and `grounds` says so. Fails with `instance.failed` or
 * `instance.deleted` when the service says so, and with `instance.unchanged` when nothing has shown for two minutes that it was done. A state
 * that is not known counts as under way and is shown. If the process dies inside, the next one watches from the beginning.
 */
export function waitForInstance(
  deps: Pick<ActivityDeps, 'service' | 'objectives' | 'settleMs'>,
): ReadActivity<Input, InstanceReady> {
  return {
    kind: 'read',
    run(input, context) {
      const quietMs = Math.min(QUIET_MS, deps.settleMs);
      const expected = { what: 'actions', rtoMs: deps.objectives.rtoMs, defaultSeconds: DEFAULT_SECONDS };
      const watch = watchdog(expected, context);
      let wasBusy = false;
      let still: Still | undefined;
      return poll('the instance', context, async () => {
        const { value } = await deps.service.overview(context.signal);
        const state: string = value.state ?? 'not told';
        if (!STEADY.has(state) && state !== 'failed' && state !== 'deleted') {
          wasBusy ||= value.state !== undefined;
          still = undefined;
          return { status: state, overdue: watch('running', instantOf(context.arrivedAt)) };
        }
        // Nothing comes after it, whatever was asked for.
        if (state === 'deleted') return { status: state, result: end(state, value, '') };
        const nowMs = context.now().getTime();
        still = stillSince(still, value, nowMs);
        const grounds = groundsOf(input, value, { wasBusy, quietForMs: nowMs - still.unchangedMs, quietMs });
        if (grounds !== undefined) return { status: state, result: end(state, value, grounds) };
        const isPatient = nowMs - still.unchangedMs <= PATIENCE_MS;
        return { status: state, result: isPatient ? undefined : unchanged(state, input, value) };
      });
    },
  };
}

/** The instance at rest, and since when nothing of it has changed. Milliseconds since 1970. */
interface Still {
  readonly unchangedMs: number;
  readonly looks: string;
}

function stillSince(before: Still | undefined, overview: InstanceOverview, nowMs: number): Still {
  const { state, updated_at } = overview;
  const looks = JSON.stringify([state, updated_at, updateLines(overview)]);
  return before !== undefined && looks === before.looks ? before : { unchangedMs: nowMs, looks };
}

interface Watched {
  /** Whether it was seen in a state that is not steady. */
  readonly wasBusy: boolean;
  readonly quietForMs: number;
  readonly quietMs: number;
}

/** By what it is known that the action is over; undefined while it is not, `''` where none was asked for. */
function groundsOf(input: Input, overview: InstanceOverview, watched: Watched): string | undefined {
  const { action, updatedAt } = input;
  if (action === undefined && updatedAt === undefined) return '';
  const now = updateLines(overview);
  const isGone = action === 'update' && areUpdatesGone(input.updates, now);
  const isStillOffered =
    action === 'update' && (input.updates ?? []).length > 0 && now !== undefined && !isGone;
  if (isStillOffered) return undefined;
  if (watched.wasBusy) return 'it was seen at work, and is no longer';
  if (watched.quietForMs < watched.quietMs) return undefined;
  const signs = [
    ...(hasMoved(updatedAt, overview.updated_at) ? ['its time of the last change has moved'] : []),
    ...(isGone ? ['updates are no longer offered'] : []),
  ];
  if (signs.length === 0) return undefined;
  const quiet = formatSeconds(Math.round(watched.quietMs / 1_000));
  return `it was not seen at work, but ${signs.join(', ')}, and nothing has changed for ${quiet} since`;
}

/** Whether the service's own time of the last change is another than before; both are by one clock. */
function hasMoved(before: string | undefined, now: string | undefined): boolean {
  const [was, is] = [instantOf(before), instantOf(now)];
  return was !== undefined && is !== undefined && was !== is;
}

function end(state: string, overview: InstanceOverview, grounds: string): Seen<InstanceReady>['result'] {
  if (state === 'failed' || state === 'deleted') {
    return no(`instance.${state}`, `the instance is ${state}; the service gives no reason`, {
      hints: ['nothing more is sent to it: look at the dashboard, or ask whoever runs the service'],
    });
  }
  return ok({
    state,
    ...(overview.updated_at === undefined ? {} : { updatedAt: overview.updated_at }),
    ...(overview.available_updates === undefined
      ? {}
      : { pendingUpdates: overview.available_updates.length }),
    ...(grounds === '' ? {} : { grounds }),
  });
}

function unchanged(
  state: string,
  { action, updates }: Input,
  overview: InstanceOverview,
): Seen<InstanceReady>['result'] {
  const isOffered =
    action === 'update' && (updates ?? []).length > 0 && overview.available_updates !== undefined;
  const finding = isOffered
    ? 'the updates that were to be installed are still offered'
    : 'nothing shows that anything was done to it';
  return no('instance.unchanged', `the instance is ${state}, and ${finding}`, {
    hints: ['wait for it again, or look at the dashboard', 'it may have been too quick to be seen'],
    evidence: { state: show(state, 40), waitedMs: PATIENCE_MS },
  });
}
