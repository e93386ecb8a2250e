import type { InstanceReady } from '../../machines/parts/verbs.ts';
import type { InstanceOverview } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { ReadActivity } from './activity.ts';
import { instantOf } from './clocks.ts';
import type { ActivityDeps } from './deps.ts';
import { poll, type Seen } from './poll.ts';
import { no, ok } from './results.ts';
import { watchdog } from './watchdog.ts';

interface Input {
  /** The instance's `updated_at` before the action; without it the first steady state counts. */
  readonly updatedAt?: string | undefined;
}

/** The states in which an instance can be used (service-api.md section 2.4). */
const STEADY: ReadonlySet<string> = new Set(['provisioned', 'available']);
/** An accepted action may take a moment to show; one that shows nothing for so long is not believed. */
const PATIENCE_MS = 120_000;
/** Nothing lists actions, so there is no history of them. */
const DEFAULT_SECONDS = 900;

/**
 * Waits until an action of the instance is over: a steady state, after it was seen deploying or its `updated_at` has moved. Fails with
 * `instance.failed` or `instance.deleted` when the service says so, and with `instance.unchanged` when nothing has shown for two minutes
 * that anything happened. A state that is not known counts as under way and is shown.
 */
export function waitForInstance(
  deps: Pick<ActivityDeps, 'service' | 'objectives'>,
): ReadActivity<Input, InstanceReady> {
  return {
    kind: 'read',
    run({ updatedAt }, context) {
      const since = context.now().getTime();
      const expected = { what: 'actions', rtoMs: deps.objectives.rtoMs, defaultSeconds: DEFAULT_SECONDS };
      const watch = watchdog(expected, context);
      let hasBegun = updatedAt === undefined;
      return poll('the instance', context, async () => {
        const { value } = await deps.service.overview(context.signal);
        const state: string = value.state ?? 'not told';
        const isStill = STEADY.has(state) || state === 'failed' || state === 'deleted';
        hasBegun ||= (value.state !== undefined && !isStill) || hasMoved(updatedAt, value.updated_at);
        if (!isStill) return { status: state, overdue: watch('running', instantOf(context.arrivedAt)) };
        if (hasBegun) return { status: state, result: end(state, value) };
        const isPatient = context.now().getTime() - since <= PATIENCE_MS;
        return { status: state, result: isPatient ? undefined : unchanged(state) };
      });
    },
  };
}

/** Whether the service's own time of the last change is another than before; both are by one clock. */
function hasMoved(before: string | undefined, now: string | undefined): boolean {
  return instantOf(now) !== undefined && instantOf(now) !== instantOf(before);
}

function end(state: string, overview: InstanceOverview): Seen<InstanceReady>['result'] {
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
  });
}

function unchanged(state: string): Seen<InstanceReady>['result'] {
  return no(
    'instance.unchanged',
    `the instance is ${state}, and nothing shows that anything was done to it`,
    {
      hints: ['wait for it again, or look at the dashboard', 'it may have been too quick to be seen'],
      evidence: { state: show(state, 40), waitedMs: PATIENCE_MS },
    },
  );
}
