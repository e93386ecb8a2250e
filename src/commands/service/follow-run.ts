import { leavesFollowUps } from '../../../machines/closing/evaluate.ts';
import type { RunContext } from '../../../machines/context.ts';
import { type Question, STOP_EVENT } from '../../../machines/parts/question.ts';
import { landedOf } from '../../../machines/parts/task-data.ts';
import { isInDoubt } from '../../../machines/send-state.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { EarlySignals } from '../../cli/stop-signal.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Run, RunState } from '../../runner/run.ts';
import { foldSends } from '../../store/projections/sends.ts';
import { leftBySignal } from '../../view/run-port.ts';
import { watchOverdue } from '../run/leave-overdue.ts';
import { type Asked, isBegun, isSent, moveOf } from './answer-change.ts';
import { confirmChange } from './confirm-change.ts';
import { waitPatience } from './follow.ts';
import type { Change, ChangeFlags } from './planned-change.ts';
import { progressLine } from './progress-line.ts';

interface Following {
  readonly early: EarlySignals;
  readonly change: Change;
  readonly flags: ChangeFlags;
  readonly instance: OpenInstance;
  /** Called once the service has accepted the change. */
  readonly accepted: (context: RunContext) => Promise<void>;
}

export interface FollowedTo {
  /** Why the command does not end well; undefined if it does. */
  readonly error: LifeboatError | undefined;
  /** Whether what the change became was waited for to its end. */
  readonly isWaitedFor: boolean;
}

/**
 * Drives the run of a command to its end, answering by the flags or by asking the operator, and leaves it
 * where only a person can go on. A signal leaves it in order.
 */
export async function followRun(
  context: CommandContext,
  run: Run,
  { early, change, flags, instance, accepted }: Following,
): Promise<FollowedTo> {
  const line = progressLine(context);
  const leaving = new AbortController();
  let error: LifeboatError | undefined;
  let isConfirmed = false;
  const passed: string[] = [];
  const leave = async (why: LifeboatError | undefined, words: string) => {
    error ??= why;
    leaving.abort();
    await run.detach(words);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    leave(interrupted(run.state()), leftBySignal(signal)).catch(() => undefined);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const came = early.release();
  if (came !== undefined) onSignal(came);

  const act = async (question: Question): Promise<void> => {
    const asked = askedOf(run.state(), question, { name: instance.name, isConfirmed });
    const move = moveOf(asked, change, flags);
    if (move.do === 'leave') return leave(move.error, move.error?.message ?? 'the command is done');
    if (move.do === 'stop') {
      error ??= move.error;
      return run.answer({ event: STOP_EVENT });
    }
    if (move.do === 'confirm') {
      line.end();
      const confirming = { change, flags, instance, context: asked.context, passed };
      await confirmChange(context, confirming, leaving.signal);
      isConfirmed = true;
    } else if (move.passes !== undefined) passed.push(move.passes);
    return run.answer(move.answer);
  };
  /** A decline closes the run; a missing second person leaves it open. */
  const stop = async (thrown: unknown): Promise<void> => {
    if (leaving.signal.aborted) return;
    if (!(thrown instanceof LifeboatError) || thrown.code.startsWith('approval.')) {
      const failed = thrown instanceof LifeboatError ? thrown : undefined;
      await leave(failed, failed?.message ?? 'the command failed');
      if (failed === undefined) throw thrown;
      return;
    }
    error ??= thrown;
    await run.answer({ event: STOP_EVENT }).catch(() => run.detach(thrown.message));
  };

  const patienceMs = waitPatience(context, flags);
  const watch =
    patienceMs === undefined
      ? undefined
      : watchOverdue(patienceMs, (why) => {
          leave(overdue(run.state(), why), why).catch(() => undefined);
        });
  const changes = changesOf(run);
  try {
    while (!changes.isOver()) {
      const { snapshot, activity } = run.state();
      const seen = snapshot.context as RunContext;
      if (activity?.progress !== undefined) line.report(activity.progress);
      watch?.look(activity?.since, activity?.progress?.overdue);
      if (isAccepted(seen)) {
        await accepted(seen);
        if (flags.wait !== true && leavesFollowUps(seen))
          await leave(goesOn(run.state()), 'the command does not wait');
      }
      const question = questionOf(run.state().snapshot);
      if (question !== undefined && !leaving.signal.aborted) await act(question).catch(stop);
      else await changes.next();
    }
    await run.ended;
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    watch?.stop();
    changes.stop();
    line.end();
  }
  const { paused, snapshot, entries, runId } = run.state();
  if (paused !== undefined) {
    const isOpen = isBegun(entries) ? [`the run is open: lifeboat resume ${runId}`] : ['nothing was sent'];
    error ??= errorFrom({ ...paused, hints: [...isOpen, ...paused.hints] }, EXIT.credentials);
  }
  const { backup, restore, available } = snapshot.context as RunContext;
  const isWaitedFor = [backup.backup, restore.restore, available.ready].some((one) => one !== undefined);
  return { error, isWaitedFor };
}

/** Tells when a run has changed, and when it is over in this process. */
function changesOf(run: Run) {
  let [count, seen, isOver] = [0, 0, false];
  let wake: (() => void) | undefined;
  const changed = () => {
    count += 1;
    wake?.();
  };
  const unsubscribe = run.subscribe(changed);
  const over = () => {
    isOver = true;
    changed();
  };
  run.ended.then(over, over);
  return {
    isOver: () => isOver,
    /** Resolves once the run has changed since the last call. */
    next: async (): Promise<void> => {
      if (count === seen) await new Promise<void>((resolve) => (wake = resolve));
      seen = count;
    },
    stop: unsubscribe,
  };
}

function askedOf(
  { snapshot, runId, entries }: RunState,
  question: Question,
  known: Pick<Asked, 'name' | 'isConfirmed'>,
): Asked {
  const doubt = [...foldSends(entries)].find(([, send]) => isInDoubt(send));
  return {
    ...known,
    runId,
    question,
    context: snapshot.context as RunContext,
    is: (tag) => snapshot.hasTag(tag as never),
    inDoubt: doubt && { intent: doubt[0], verb: doubt[1].verb ?? '' },
  };
}

/** Whether the service has accepted what the run is for. */
export function isAccepted({
  run: { single },
  backup,
  restore,
  act,
  key,
  settings,
  card,
}: RunContext): boolean {
  switch (single?.change) {
    case 'changeBackupSettings':
      return settings.backups !== undefined;
    case 'changeUpdateSetting':
      return settings.updates !== undefined;
    case 'setKey':
      return key.setting !== undefined && key.setting.answer !== 'unknown';
    case 'prepareRecovery':
      return card.guid !== undefined;
    default:
      return [backup, restore, act].some((task) => landedOf(task) !== undefined);
  }
}

function interrupted({ runId, snapshot, entries }: RunState): LifeboatError {
  const hints = isSent(snapshot.context as RunContext)
    ? ['the service goes on with what was sent', `to go on: lifeboat resume ${runId}`]
    : isBegun(entries)
      ? ['it may have been sent', `to ask the service, which sends nothing: lifeboat resume ${runId} --look`]
      : ['nothing was sent'];
  return new LifeboatError('call.left', 'interrupted', { hints, exitCode: EXIT.interrupted });
}

function overdue({ runId }: RunState, why: string): LifeboatError {
  return new LifeboatError('call.overdue', `left while waiting: ${why}`, {
    hints: ['the service goes on with it', `to go on waiting: lifeboat resume ${runId}`],
    exitCode: EXIT.waiting,
  });
}

/** The end of a command that has asked for a restore and does not wait for it. */
function goesOn({ runId }: RunState): LifeboatError {
  return new LifeboatError('run.waits', 'the service restores the data, and its follow-ups are to be done', {
    hints: [
      `to wait for it and do them: lifeboat resume ${runId}`,
      'do not repeat the command; for a script that does them itself there is --no-follow-ups',
    ],
    exitCode: EXIT.waiting,
  });
}
