import { statePath } from '../../../machines/parts/states.ts';
import { isInDoubt } from '../../../machines/send-state.ts';
import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { metaOf } from '../../runner/answer.ts';
import type { Run } from '../../runner/run.ts';
import { foldSends } from '../../store/projections/sends.ts';
import { afterLeaving, leftBySignal } from '../../view/run-port.ts';

/**
 * One keystroke can reach a process twice: from the terminal, and forwarded by its parent process.
 * Milliseconds.
 */
const SAME_KEYSTROKE_MS = 300;

/** The signal handling of a run in this process. */
export interface Leaving {
  /** Leaves the run as it is, resumable. Resolves when nothing more will be written. */
  detach(why?: string): Promise<void>;
  /** Restores the usual effect of signals. */
  release(): void;
}

/**
 * Leaves the run at the first SIGINT, SIGTERM or SIGHUP: a call in progress may still answer. A later Ctrl-C
 * quits at once and says on stderr where the run stands; a call in progress is then in doubt, and the next
 * resume asks the service.
 */
export function leaveOnSignals(run: Run, context: CommandContext, gone?: string): Leaving {
  let leavingSince: number | undefined;
  const detach = (why?: string) => {
    leavingSince ??= performance.now();
    return run.detach(why);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    const isAgain = leavingSince !== undefined && performance.now() - leavingSince > SAME_KEYSTROKE_MS;
    // A closing terminal sends its signals several times; only a person presses Ctrl-C twice.
    if (isAgain && signal === 'SIGINT') quit(run, context, gone);
    void detach(leftBySignal(signal)).catch(() => undefined);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    detach,
    release: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

function quit(run: Run, { stderr }: CommandContext, gone: string | undefined): never {
  const { runId, snapshot, entries } = run.state();
  const open = [...foldSends(entries)].filter(([, send]) => isInDoubt(send));
  const title = metaOf(snapshot)?.title ?? statePath(snapshot);
  const doubt =
    open.length === 0
      ? 'nothing is on its way to the service'
      : `in doubt: ${open.map(([intent]) => intent).join(', ')} may have been sent` +
        `${gone === undefined ? ', and the resume asks the service first' : ''}`;
  stderr.write(`lifeboat: quit at once: run ${show(runId)} is at "${show(title)}"; ${show(doubt)}\n`);
  stderr.write(`hint: ${afterLeaving({ runId, gone })}\n`);
  process.exit(EXIT.interrupted);
}
