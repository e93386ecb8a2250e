import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt, fallbackOf as stepsByHand } from '../../../machines/parts/states.ts';
import { viewClosed } from '../view-follow-ups.ts';
import { viewFact } from '../view-outcome.ts';
import type { FallbackInstances } from './render-call.ts';
import { renderFallback } from './render-fallback.ts';

export interface FallbackWish {
  readonly runbook: Runbook;
  /** What the run is at: the name of a state of the machine. */
  readonly state: string;
  /** The machine's context in that state. */
  readonly context: unknown;
  readonly runId: string;
  /** Where the fallback script is kept, so that it can say how it is run. */
  readonly path: string;
  readonly instances: FallbackInstances;
  readonly now: Date;
  readonly rehearsal?: boolean;
}

/**
 * The fallback script of a run at one moment: `curl`, `openssl` and `cf` commands that do the rest of it,
 * printable as they are. Pure.
 */
export function fallbackOf(wish: FallbackWish): string {
  const { runbook, state, context, runId, path, instances, now, rehearsal } = wish;
  const steps = stepsByHand(runbook.machine, context, state);
  const head = {
    runId,
    title: runbook.title,
    at: metaAt(runbook.machine, state)?.title ?? state,
    writtenAt: now,
    path,
    known: knownBy(runbook, context),
    rehearsal,
  };
  return renderFallback(head, steps, instances);
}

/** Facts first, then the closed follow-ups, so that nobody does them again. */
function knownBy(runbook: Runbook, context: unknown): string[] {
  const facts = runbook.facts(context as never).map(viewFact);
  const followUps = runbook.followUps?.(context as never) ?? [];
  return [
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    ...followUps.flatMap(({ what, closed }) =>
      closed === undefined ? [] : [`closed: ${what} (${viewClosed(closed).text})`],
    ),
  ];
}
