import type { Runbook } from '../../machines/parts/runbook.ts';
import type { Run, RunState } from '../runner/run.ts';
import { buildRunView } from '../view/build-run-view.ts';
import type { ProseSection } from '../view/prose.ts';
import type { RunPort } from '../view/run-port.ts';

/** A live run as renderers see it. */
export function portOf(
  run: Run,
  runbook: Runbook,
  prose: ReadonlyMap<string, ProseSection>,
  paper: (state: RunState) => string,
): RunPort {
  return {
    view: () => buildRunView({ ...run.state(), runbook, prose, now: new Date() }),
    paper: () => paper(run.state()),
    subscribe: (listener) => run.subscribe(listener),
    answer: (answer) => run.answer(answer),
    wake: () => run.wake(),
    detach: () => run.detach(),
    ended: run.ended,
  };
}
