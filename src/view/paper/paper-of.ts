import { paperOf as stepsOnPaper } from '../../../machines/parts/phases.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt } from '../../../machines/parts/states.ts';
import { viewFact } from '../build-run-view.ts';
import { viewSettled } from '../view-obligations.ts';
import { renderPaper } from './render-paper.ts';
import type { PaperSites } from './site.ts';

export type { PaperSite, PaperSites } from './site.ts';

export interface PaperWish {
  readonly runbook: Runbook;
  /** What the run is at: the name of a state of the machine. */
  readonly state: string;
  /** The machine's context in that state. */
  readonly context: unknown;
  readonly runId: string;
  /** Where the paper is kept, so that it can say how it is run. */
  readonly path: string;
  readonly sites: PaperSites;
  readonly now: Date;
  readonly rehearsal?: boolean;
}

/**
 * The paper lifeboat of a run at one moment: a script of `curl`, `openssl` and `cf` that does the rest of it, printable as it is.
 * Pure.
 */
export function paperOf({ runbook, state, context, runId, path, sites, now, rehearsal }: PaperWish): string {
  const steps = stepsOnPaper(runbook.machine, context, state);
  const head = {
    runId,
    title: runbook.title,
    at: metaAt(runbook.machine, state)?.title ?? state,
    writtenAt: now,
    path,
    known: knownBy(runbook, context),
    ...(rehearsal === undefined ? {} : { rehearsal }),
  };
  return renderPaper(head, steps, sites);
}

/** Facts first, then what was owed and is settled, so that nobody does it again. */
function knownBy(runbook: Runbook, context: unknown): string[] {
  const facts = runbook.facts(context as never).map(viewFact);
  const obligations = runbook.obligations?.(context as never) ?? [];
  return [
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    ...obligations.flatMap(({ what, settled }) =>
      settled === undefined ? [] : [`settled: ${what} (${viewSettled(settled).text})`],
    ),
  ];
}
