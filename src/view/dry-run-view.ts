import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { hasTagAt, mainPathOf, metaAt, stepOf } from '../../machines/parts/states.ts';
import { show } from '../base/text.ts';
import type { PlannedCallView, PlannedStep } from './plan-schema.ts';

/** The instances of a run, as its context or its flags name them. */
export interface PlanNames {
  readonly instance: string;
  readonly target?: string | undefined;
}

/** How the interface of an instance has a call of V1; undefined when it does not have it. */
export type RouteFor = (call: PlannedCall) => Pick<PlannedCall, 'method' | 'path'> | undefined;

/**
 * The states of a run without trouble that ask, call or do anything, in order. `path` are their names; the
 * runbook's main path by default. Calls are those of V1 unless `routeFor` says otherwise. Pure: nothing is
 * sent.
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
        // What only looks needs no way back.
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
