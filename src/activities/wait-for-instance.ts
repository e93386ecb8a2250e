import type { InstanceReady } from '../../machines/parts/task-data.ts';
import type { InputOf } from '../../machines/verbs.ts';
import { formatSeconds } from '../base/format.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { InstanceOverview } from '../service/schemas.ts';
import { type ActivityOf, no, ok } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { areUpdatesGone, updateLines } from './doubt-action.ts';
import { poll, type Seen } from './poll.ts';
import { watchdog } from './watchdog.ts';

/** An instance can be used in these states (service-api.md section 2.4). */
const STEADY: ReadonlySet<string> = new Set(['provisioned', 'available']);
/** An update that is still offered this long after its deployment is not installed. */
const PATIENCE_MS = 120_000;
/**
 * A mere sign of a change counts after this long without another change, or after the instance's in-flight
 * window, if that is shorter.
 */
const QUIET_MS = 60_000;
/** Nothing lists actions, so there is no history of them. */
const DEFAULT_SECONDS = 900;

/**
 * An accepted action is over after a steady state that follows another one and, for an update, fewer offered
 * updates. A service may move `updated_at` when it accepts and begin later, so that only starts a quiet
 * period: the action counts as over once the instance has been steady and unchanged throughout it. If the
 * action was over before the first look and left no trace, it counts as over when the in-flight window has
 * passed since the run began to wait: it cannot begin any more, and `seenDeploying` is false. `reason` says
 * which of these applied. Fails with `instance.failed` or `instance.deleted` if the service says so, and with
 * `instance.unchanged` for an update that is still offered when it should be over. An unknown state counts as
 * under way and is shown. If the process dies inside, the next one watches from the beginning, and the
 * in-flight window continues.
 */
export function waitForInstance(
  deps: Pick<ActivityDeps, 'service' | 'objectives' | 'inFlightMs'>,
): ActivityOf<'waitForInstance'> {
  return {
    kind: 'read',
    run(input, context) {
      const { inFlightMs } = deps;
      const quietMs = Math.min(QUIET_MS, inFlightMs);
      const acceptedMs = instantOf(context.arrivedAt) ?? context.now().getTime();
      const expected = { what: 'actions', rtoMs: deps.objectives.rtoMs, defaultSeconds: DEFAULT_SECONDS };
      const watch = watchdog(expected, context);
      let wasBusy = false;
      let still: Still | undefined;
      return poll('the instance', context, async () => {
        const { value } = await deps.service.overview(context.signal);
        const state: string = value.state ?? 'not reported';
        if (!STEADY.has(state) && state !== 'failed' && state !== 'deleted') {
          wasBusy ||= value.state !== undefined;
          still = undefined;
          return { status: state, overdue: watch('running', acceptedMs) };
        }
        const simulated = deps.service.isSimulated() ? { simulated: true as const } : {};
        // Nothing follows this state, whatever was requested.
        if (state === 'deleted') return { status: state, result: end(state, value, {}) };
        const nowMs = context.now().getTime();
        still = stillSince(still, value, nowMs);
        const watched = { wasBusy, quietForMs: nowMs - still.unchangedMs, quietMs };
        const isLate = nowMs - acceptedMs >= inFlightMs;
        const late = isLate ? { acceptedForMs: nowMs - acceptedMs } : {};
        const known = howKnown(input, value, { ...watched, ...late });
        if (known !== undefined)
          return { status: state, result: end(state, value, { ...known, ...simulated }) };
        // Reached only by an update that is still offered, or an action that may still begin.
        const steadyForMs = nowMs - still.steadyMs;
        const isOver = (wasBusy || isLate) && steadyForMs > PATIENCE_MS;
        return { status: state, result: isOver ? unchanged(state, steadyForMs) : undefined };
      });
    },
  };
}

/** Milliseconds since 1970: at rest since, and without a change since. */
interface Still {
  readonly steadyMs: number;
  readonly unchangedMs: number;
  readonly looks: string;
}

function stillSince(before: Still | undefined, overview: InstanceOverview, nowMs: number): Still {
  const { state, updated_at } = overview;
  const looks = JSON.stringify([state, updated_at, updateLines(overview)]);
  if (before !== undefined && looks === before.looks) return before;
  return { steadyMs: before?.steadyMs ?? nowMs, unchangedMs: nowMs, looks };
}

interface Watched {
  /** Seen in an unsteady state. */
  readonly wasBusy: boolean;
  readonly quietForMs: number;
  readonly quietMs: number;
  /** Since the action was accepted, once that is longer than the in-flight window. */
  readonly acceptedForMs?: number;
}

type Known = Pick<InstanceReady, 'reason' | 'seenDeploying' | 'simulated'>;

/** Undefined until the action is known to be over, empty if none was requested. */
function howKnown(
  input: InputOf<'waitForInstance'>,
  overview: InstanceOverview,
  watched: Watched,
): Known | undefined {
  const { action, updatedAt } = input;
  if (action === undefined) return {};
  if (isStillOffered(input, overview)) return undefined;
  if (watched.wasBusy) return { reason: 'it was seen deploying, and is no longer', seenDeploying: true };
  const signs = [
    ...(hasMoved(updatedAt, overview.updated_at) ? ['the time of its last change has moved'] : []),
    ...(isInstalled(input, overview) ? ['updates are no longer offered'] : []),
  ];
  const unseen = 'it was not seen deploying';
  if (signs.length > 0 && watched.quietForMs >= watched.quietMs) {
    const quiet = formatSeconds(Math.round(watched.quietMs / 1_000));
    const reason = `${unseen}, but ${signs.join(', ')}, and nothing has changed for ${quiet} since`;
    return { reason, seenDeploying: false };
  }
  if (watched.acceptedForMs === undefined) return undefined;
  const after = formatSeconds(Math.round(watched.acceptedForMs / 1_000));
  const also = signs.length === 0 ? '' : `; ${signs.join(', ')}`;
  const reason = `${unseen}; it is ${overview.state} ${after} after the ${action} was accepted${also}`;
  return { reason, seenDeploying: false };
}

function isInstalled({ action, updates }: InputOf<'waitForInstance'>, overview: InstanceOverview): boolean {
  return action === 'update' && areUpdatesGone(updates, updateLines(overview));
}

function isStillOffered(input: InputOf<'waitForInstance'>, overview: InstanceOverview): boolean {
  const { action, updates = [] } = input;
  const isReported = overview.available_updates !== undefined;
  return action === 'update' && updates.length > 0 && isReported && !isInstalled(input, overview);
}

/** Both times are by the service's clock. */
function hasMoved(before: string | undefined, now: string | undefined): boolean {
  const [was, is] = [instantOf(before), instantOf(now)];
  return was !== undefined && is !== undefined && was !== is;
}

function end(state: string, overview: InstanceOverview, known: Known): Seen<InstanceReady>['result'] {
  if (state === 'failed' || state === 'deleted') {
    return no(`instance.${state}`, `the instance is ${state}; the service gives no reason`, {
      hints: ['nothing more is sent to it: look at the dashboard, or ask the operator of the service'],
    });
  }
  return ok({
    state,
    ...(overview.updated_at === undefined ? {} : { updatedAt: overview.updated_at }),
    ...(overview.available_updates === undefined
      ? {}
      : { pendingUpdates: overview.available_updates.length }),
    ...known,
  });
}

function unchanged(state: string, waitedMs: number): Seen<InstanceReady>['result'] {
  return no(
    'instance.unchanged',
    `the instance is ${state}, and the updates that were to be installed are still offered`,
    {
      hints: [
        'wait for it again, or look at the dashboard',
        'where maintenance updates are forbidden, the service may install none',
      ],
      evidence: { state: show(state, 40), waitedMs },
    },
  );
}
