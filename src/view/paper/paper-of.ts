import type { Runbook } from '../../../machines/parts/runbook.ts';
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
 * Pure; a runbook that has no paper gives one that says so.
 */
export function paperOf({ runbook, state, context, runId, path, sites, now, rehearsal }: PaperWish): string {
  const steps = runbook.paper?.(context as never, state) ?? NO_PAPER;
  const meta = runbook.machine.states[state]?.meta as { readonly title?: string } | undefined;
  const head = {
    runId,
    title: runbook.title,
    at: meta?.title ?? state,
    writtenAt: now,
    path,
    ...(rehearsal === undefined ? {} : { rehearsal }),
  };
  return renderPaper(head, steps, sites);
}

/** Better than a paper that claims that nothing is left. */
const NO_PAPER = [
  {
    state: '',
    title: 'go on by hand',
    notes: [],
    actions: [
      {
        do: 'by-hand' as const,
        what: 'This runbook has no paper: read its text, and go on in the dashboard.',
      },
    ],
  },
];
