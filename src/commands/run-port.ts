import type { Runbook } from '../../machines/parts/runbook.ts';
import type { Run, RunState } from '../runner/run.ts';
import { anchorOf } from '../store/log/anchor.ts';
import { buildRunView } from '../view/build-run-view.ts';
import type { ProseSection } from '../view/prose.ts';
import type { RunPort } from '../view/run-port.ts';
import type { ApprovalView, RunView } from '../view/run-view.ts';
import { withApproval } from '../view/view-approval.ts';

/** A live run as renderers see it. `gone` says why nobody can carry it on once it was left; without it, anybody can. */
export function portOf(
  run: Run,
  runbook: Runbook,
  prose: ReadonlyMap<string, ProseSection>,
  paper: (state: RunState) => string,
  approval?: (state: RunState) => ApprovalView | undefined,
  gone?: string,
): RunPort {
  return {
    view: () => {
      const state = run.state();
      const view = buildRunView({ ...state, runbook, prose, gone, now: new Date() });
      return anchored(withApproval(view, approval?.(state)), state);
    },
    paper: () => paper(run.state()),
    subscribe: (listener) => run.subscribe(listener),
    answer: (answer) => run.answer(answer),
    wake: () => run.wake(),
    detach: (why) => run.detach(why),
    ended: run.ended,
  };
}

/** A run that is over says what to write into the ticket. */
function anchored(view: RunView, { entries }: RunState): RunView {
  const last = entries.at(-1);
  if (view.outcome === undefined || last?.type !== 'run.closed') return view;
  const line = `anchor for the ticket: ${anchorOf(last)}`;
  return { ...view, outcome: { ...view.outcome, lines: [...view.outcome.lines, line] } };
}
