import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { hasTagAt, mainPathOf, metaAt, stepOf } from '../../machines/parts/states.ts';
import { show } from '../base/text.ts';
import type { PlannedCallView, PlannedStep } from './plan-schema.ts';

/** As the run's context or its flags name them. */
export interface PlanNames {
  readonly instance: string;
  readonly target?: string | undefined;
}

/** An instance's form of a V1 call; undefined if it lacks the call. */
export type RouteFor = (call: PlannedCall) => Pick<PlannedCall, 'method' | 'path'> | undefined;

/**
 * The states in `path` that ask, call or do anything; by default the runbook's main path. Calls are those of
 * V1 unless `routeFor` says otherwise. Pure: sends nothing.
 */
export function plannedSteps(
  runbook: Runbook,
  names: PlanNames,
  path: readonly string[] = mainPathOf(runbook.machine),
  routeFor: RouteFor = (call) => call,
): PlannedStep[] {
  return path.flatMap((state): PlannedStep[] => {
    const meta = metaAt(runbook.machine, state);
    if (meta === undefined) return [];
    const calls = (meta.calls ?? []).map((call) => viewCall(call, names, routeFor(call)));
    const does = (meta.does ?? []).map((text) => show(text));
    const asks = meta.question !== undefined;
    if (!asks && calls.length === 0 && does.length === 0) return [];
    return [
      {
        state,
        step: stepOf(state),
        title: meta.title,
        calls,
        does,
        // A mere check needs no way back.
        changes: calls.some(({ changes }) => changes) || (does.length > 0 && meta.wayBack !== undefined),
        destructive: hasTagAt(runbook.machine, state, 'destructive'),
        asks: asks ? meta.title : undefined,
        wayBack: meta.wayBack,
      },
    ];
  });
}

function viewCall(call: PlannedCall, names: PlanNames, route: ReturnType<RouteFor>): PlannedCallView {
  const { what, on, needs, forever } = call;
  const { method, path } = route ?? call;
  const name = on === 'target' ? (names.target ?? 'the target') : names.instance;
  return {
    method,
    on: show(name, 80),
    path,
    what,
    changes: method !== 'GET',
    absent: route === undefined ? true : undefined,
    needs,
    forever,
  };
}
