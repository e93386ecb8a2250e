import type { Runbook } from '../../../machines/parts/runbook.ts';
import type { Run, RunState } from '../../runner/run.ts';
import type { Log } from '../../store/journal.ts';
import { anchorOfHead } from '../../store/log/anchor.ts';
import { type AwaitedFacts, buildRunView } from '../../view/build-run-view.ts';
import type { ProseSection } from '../../view/prose.ts';
import type { RunPort } from '../../view/run-port.ts';
import type { ApprovalView, RunView } from '../../view/run-view.ts';
import { withApproval } from '../../view/view-outcome.ts';
import type { History } from './history.ts';

/** What a renderer learns of a run besides its record. */
interface Beside {
  readonly approval?: ((state: RunState) => ApprovalView | undefined) | undefined;
  /** Why the run cannot be continued once it was left; undefined if it can. */
  readonly gone?: string | undefined;
  readonly chapter?: RunView['chapter'];
  readonly history?: History | undefined;
  /** The instances that the config keeps as recovery targets. */
  readonly targets?: readonly string[] | undefined;
  /** What this process waits for now. */
  readonly awaited?: (() => AwaitedFacts | undefined) | undefined;
}

/** A live run as renderers see it. */
export function portOf(
  run: Run,
  log: Pick<Log, 'origin' | 'head'>,
  runbook: Runbook,
  prose: ReadonlyMap<string, ProseSection>,
  fallback: (state: RunState) => string,
  { approval, gone, chapter, history, targets, awaited }: Beside = {},
): RunPort {
  const listeners = new Set<() => void>();
  let anchor: string | undefined;
  const ended = run.ended.then(async (end) => {
    if (end.how !== 'ended') return end;
    // The run is over and on record, even if its anchor cannot be read.
    anchor = await anchorOfHead(log).catch(() => undefined);
    for (const listener of listeners) listener();
    return end;
  });
  ended.catch(() => undefined);
  return {
    view: () => {
      const state = run.state();
      const usual = history?.times();
      const beside = { prose, gone, chapter, usual, targets, awaited: awaited?.() };
      const view = buildRunView({ ...state, ...beside, runbook, now: new Date() });
      return withAnchor(withApproval(view, approval?.(state)), anchor);
    },
    fallback: () => fallback(run.state()),
    subscribe: (listener) => {
      listeners.add(listener);
      const unsubscribe = run.subscribe(listener);
      const forget = history?.subscribe(listener);
      return () => {
        listeners.delete(listener);
        unsubscribe();
        forget?.();
      };
    },
    answer: (answer) => run.answer(answer),
    wake: () => run.wake(),
    detach: (why) => run.detach(why),
    ended,
  };
}

/** Adds to a finished run what to write into the ticket: the anchor that pins everything in the store. */
export function withAnchor(view: RunView, anchor: string | undefined): RunView {
  if (view.outcome === undefined || anchor === undefined) return view;
  return { ...view, outcome: { ...view.outcome, anchor } };
}
