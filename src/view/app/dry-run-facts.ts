import type { Runbook } from '../../../machines/parts/runbook.ts';
import { stepsOf } from '../../../machines/parts/states.ts';
import { failureOf } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import { readable } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { PlannedStep } from '../plan-schema.ts';
import { viewFact } from '../view-outcome.ts';
import type { UsualTimes } from './usual-times.ts';

/** A step of the rail in a run without trouble. */
export interface DryRunStep {
  readonly title: string;
  /** Calls that change something, such as `POST /backups`; empty for a step that only reads or asks. */
  readonly calls: readonly string[];
  /** Outside of the service. */
  readonly does: readonly string[];
  readonly asks: boolean;
  readonly destroys: boolean;
  /** Seconds in earlier runs, without the time for answers; undefined if it never ran. */
  readonly usualSeconds?: number | undefined;
}

/** Found by GETs alone. Every text is printable. */
export interface DryRunFacts {
  readonly steps: readonly DryRunStep[];
  /** One sentence each. */
  readonly forever: readonly string[];
  /** From the calls that destroy; if there are none, from those that change. */
  readonly wayBack: readonly string[];
  /** Confirmations that a second person must approve. */
  readonly approvals: readonly string[];
  /** Label and value. */
  readonly found: readonly (readonly [label: string, value: string])[];
  /** The first question, before more is known. */
  readonly asks?: string | undefined;
  readonly inTheWay?: { readonly text: string; readonly hints: readonly string[] } | undefined;
  /** By earlier runs, without the time for answers. */
  readonly usualSeconds?: number | undefined;
  /** Runs that `usualSeconds` is measured from. */
  readonly earlierRuns: number;
}

export interface FoundBefore {
  readonly runbook: Runbook;
  readonly losesData: boolean;
  readonly steps: readonly PlannedStep[];
  readonly found: {
    readonly context: unknown;
    readonly failure: Failure | undefined;
    readonly asks: string | undefined;
  };
  readonly approvals: readonly { readonly title: string; readonly on: string }[];
}

/** Pure. */
export function dryRunFacts(
  { runbook, losesData, steps, found, approvals }: FoundBefore,
  usual: UsualTimes | undefined,
): DryRunFacts {
  const { asks, failure } = found;
  const calls = steps.flatMap((step) => step.calls);
  return {
    steps: stepsOf(runbook.machine).flatMap(({ id, title }): DryRunStep[] => {
      const states = steps.filter(({ step }) => step === id);
      if (states.length === 0) return [];
      const made = states.flatMap((state) => state.calls.filter(({ absent, changes }) => !absent && changes));
      return [
        {
          title: show(title),
          calls: made.map(({ method, path }) => show(`${method} ${path}`)),
          does: states.flatMap(({ does }) => does.map((text) => show(text))),
          asks: states.some((state) => state.asks !== undefined),
          destroys: losesData && made.some(({ forever }) => forever !== undefined),
          usualSeconds: usual?.steps.get(id),
        },
      ];
    }),
    forever: unique(calls.map(({ forever }) => forever)),
    wayBack: wayBackOf(steps),
    approvals: approvals.map(({ title, on }) => show(`${title}: a change of ${on}`)),
    found: runbook.facts(found.context as never).map((fact) => {
      const { label, value } = viewFact(fact);
      return [label, value] as const;
    }),
    asks: asks && readable(asks),
    inTheWay: failure && {
      text: readable(failure.shortMessage),
      hints: failure.hints.map((hint) => show(hint)),
    },
    usualSeconds: usual?.wholeSeconds,
    earlierRuns: usual?.runs ?? 0,
  };
}

export function refusedRun(thrown: unknown): DryRunFacts {
  const { shortMessage, hints } = failureOf(thrown);
  return {
    steps: [],
    forever: [],
    wayBack: [],
    approvals: [],
    found: [],
    inTheWay: { text: readable(shortMessage), hints: hints.map((hint) => show(hint)) },
    earlierRuns: 0,
  };
}

function wayBackOf(steps: readonly PlannedStep[]): readonly string[] {
  const destroying = steps.filter(({ destructive }) => destructive);
  const among = destroying.some(({ wayBack }) => wayBack !== undefined) ? destroying : steps;
  return unique(among.map(({ wayBack }) => wayBack));
}

function unique(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts)].flatMap((text) => (text === undefined || text === '' ? [] : [show(text)]));
}
