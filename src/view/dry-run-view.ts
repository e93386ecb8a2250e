import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { hasTagAt, mainPathOf, metaAt, stepOf } from '../../machines/parts/states.ts';
import { show } from '../base/text.ts';

/** The instances of a run, as its context or its flags name them. */
export interface PlanNames {
  readonly instance: string;
  readonly target?: string | undefined;
}

/** A call of the service before it is made. */
export interface PlannedCallView {
  readonly method: PlannedCall['method'];
  /** The instance that it goes to, by its name in the config. */
  readonly on: string;
  /** Below that instance's address. */
  readonly path: string;
  readonly what: string;
  readonly changes: boolean;
  /** The instance's interface does not have it: it is not made, and what it would show stays unsaid. */
  readonly absent?: true | undefined;
  /** What has to hold before it is made. */
  readonly needs?: string | undefined;
  /** What cannot be undone once it is made. */
  readonly forever?: string | undefined;
}

/** What a run without trouble does in one state. Printable. */
export interface PlannedStep {
  readonly state: string;
  /** The id of the step of the rail that the state belongs to. */
  readonly step: string;
  readonly title: string;
  readonly calls: readonly PlannedCallView[];
  /** What happens outside the service, at the platform for instance. */
  readonly does: readonly string[];
  /** Whether anything is changed, at the service or outside. */
  readonly changes: boolean;
  /** Whether the operator's typed name stands before it. */
  readonly destructive: boolean;
  /** What the operator is asked. */
  readonly asks?: string | undefined;
  readonly wayBack?: string | undefined;
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
