import { isNeverPassed, leavesFollowUps } from '../../../machines/closing/evaluate.ts';
import type { RunContext } from '../../../machines/context.ts';
import { type Answer, optionKey, type Question, STOP_EVENT } from '../../../machines/parts/question.ts';
import { sentOf } from '../../../machines/phases/once.ts';
import { effectOf } from '../../../machines/verbs.ts';
import { EXIT, errorFrom, exitOf, LifeboatError } from '../../base/errors.ts';
import type { Failure } from '../../base/failure.ts';
import type { Entry } from '../../store/journal.ts';
import { stillInDoubt } from '../run/doubts.ts';
import type { Change, ChangeFlags } from './planned-change.ts';

export type Move =
  | {
      readonly do: 'answer';
      readonly answer: Answer;
      /** The finding that the answer passes, in words. */
      readonly passes?: string | undefined;
    }
  /** Asks the operator, or takes the flags, and then gives this answer. */
  | { readonly do: 'confirm'; readonly answer: Answer }
  /** Closes the run as stopped, and ends the command with the error. */
  | { readonly do: 'stop'; readonly error: LifeboatError }
  /** Leaves the run open, and ends the command with the error, or well without one. */
  | { readonly do: 'leave'; readonly error: LifeboatError | undefined };

export interface Asked {
  readonly runId: string;
  readonly name: string;
  readonly question: Question;
  readonly context: RunContext;
  /** The tags of the state. */
  readonly is: (tag: 'failed' | 'in-doubt' | 'followUp') => boolean;
  /** By operator or flag, before. */
  readonly isConfirmed: boolean;
  readonly inDoubt: { readonly intent: string; readonly verb: string } | undefined;
}

/** What the flags of a command decide about a question of its run. Pure. */
export function moveOf(asked: Asked, change: Change, flags: ChangeFlags): Move {
  const { question, context, is, runId, name } = asked;
  if (is('followUp')) return { do: 'leave', error: followUpsOpen(runId) };
  if (is('in-doubt')) return inDoubtMove(asked);
  if (question.kind === 'typed-name' && question.event === 'operator.override')
    return flags.anyway === undefined
      ? stopped(asked, blocked(context.failure, flags))
      : answer({ event: question.event, typed: question.expected }, context.failure?.shortMessage);
  if (is('failed')) return failedMove(asked, flags);
  if (question.kind === 'typed-name') {
    const { drift } = context.confirm;
    if (asked.isConfirmed) return stopped(asked, changed(drift));
    return { do: 'confirm', answer: { event: question.event, typed: name } };
  }
  if (question.kind === 'secret' && change.key !== undefined && change.key !== 'generated')
    return answer({ event: question.event, secret: change.key });
  const option = (type: string) => question.options.find(({ event }) => event.type === type);
  const keyed = option(change.key === 'generated' ? 'operator.generate' : 'operator.enterKey');
  if (keyed !== undefined)
    return keyed.disabled === undefined
      ? answer({ event: keyed.event.type })
      : stopped(asked, tooShort(keyed.disabled));
  const atRisk = option('operator.goOnWithout');
  if (atRisk !== undefined)
    return flags.anyway === undefined
      ? stopped(asked, risk(question.prompt))
      : answer({ event: atRisk.event.type, text: flags.anyway }, riskWords(question.prompt));
  const goOn = option('operator.goOn');
  if (goOn !== undefined)
    // After the send it asks whether the instance is available, which is unknown here.
    return { do: isSent(context) ? 'answer' : 'confirm', answer: { event: goOn.event.type } };
  return stopped(asked, change.unanswered?.(question, context) ?? unanswered(question));
}

function inDoubtMove({ context, runId, inDoubt, question }: Asked): Move {
  const failure = context.failure ?? { code: 'doubt.key', shortMessage: '', hints: [], evidence: {} };
  if (inDoubt === undefined) {
    const goOn = question.options.find(({ event }) => event.type === 'operator.goOn');
    // KEY UNCERTAIN (design, keys): both keys are kept; this run cannot show which is in force.
    return answer({ event: optionKey(goOn?.event ?? { type: STOP_EVENT }) });
  }
  const error = stillInDoubt({ ...inDoubt, run: { runId, isOpen: true } }, failure);
  return { do: 'leave', error };
}

/** The error of a change of the key whose answer was lost. */
export function keyUncertain(failure: Failure | undefined): LifeboatError {
  const why = failure?.shortMessage ?? 'the answer was lost';
  return new LifeboatError('doubt.key', `the key may or may not be set: ${why}`, {
    hints: [
      'every key is kept; setting the same key again is harmless',
      'a new backup shows which of them is in force',
    ],
    exitCode: EXIT.inDoubt,
  });
}

/** A failure before the send is passed with `--anyway`, where it may be; any other ends the command. */
function failedMove(asked: Asked, flags: ChangeFlags): Move {
  const { context, question, runId } = asked;
  const { failure } = context;
  const skip = question.options.find(({ event }) => event.type === 'operator.skip');
  const isOpen = skip?.disabled === undefined && !isSent(context);
  if (isOpen && skip !== undefined && flags.anyway !== undefined)
    return answer({ event: optionKey(skip.event), text: flags.anyway }, failure?.shortMessage);
  const isNever = !isSent(context) && failure !== undefined && isNeverPassed(failure);
  if (isOpen || isNever) return stopped(asked, blocked(failure, flags));
  if (failure === undefined) return stopped(asked, unanswered(question));
  const error = errorFrom(failure, exitOf(failure));
  if (!isSent(context) || !leavesFollowUps(context)) return stopped(asked, error);
  const hints = [...failure.hints, `the run is open: lifeboat resume ${runId}`];
  const isRestored = context.restore.restore !== undefined;
  return {
    do: 'leave',
    error: errorFrom({ ...failure, hints }, isRestored ? EXIT.waiting : exitOf(failure)),
  };
}

/** A finding against the change: exit 3 if `--anyway` passes it, exit 2 if nothing does. */
function blocked(failure: Failure | undefined, { anyway }: ChangeFlags): LifeboatError {
  const found = failure ?? {
    code: 'run.waits',
    shortMessage: 'something stands in the way',
    hints: [],
    evidence: {},
  };
  const isNever = isNeverPassed(found);
  const hints = found.hints.filter((hint) => !/^(?:nothing was sent|to overwrite it on purpose)/u.test(hint));
  return errorFrom(
    {
      ...found,
      shortMessage: `${found.shortMessage}; nothing was sent`,
      hints: [...hints, ...(isNever || anyway !== undefined ? [] : ['to do it anyway: add --anyway REASON'])],
    },
    isNever ? EXIT.usage : EXIT.waiting,
  );
}

function risk(prompt: string): LifeboatError {
  return new LifeboatError('pitr.near-edge', `${riskWords(prompt)}; nothing was sent`, {
    hints: ['to do it anyway: add --anyway REASON'],
    exitCode: EXIT.waiting,
  });
}

function riskWords(prompt: string): string {
  return `the time is a risk: ${prompt.replace(/: go on with it\?$/u, '')}`;
}

function changed(drift: readonly string[]): LifeboatError {
  return new LifeboatError('call.changed', `it has changed since (${drift.join('; ')}); nothing was sent`, {
    hints: ['look at it, then run the command again'],
    exitCode: EXIT.waiting,
  });
}

function tooShort(why: string): LifeboatError {
  return new LifeboatError('key.too-short', why, { hints: ['nothing was sent'], exitCode: EXIT.usage });
}

function unanswered({ prompt }: Question): LifeboatError {
  return new LifeboatError('run.waits', `no flag answers this: ${prompt}`, {
    hints: ['nothing was sent'],
    exitCode: EXIT.waiting,
  });
}

function followUpsOpen(runId: string): LifeboatError {
  return new LifeboatError('run.waits', 'the data is restored, and its follow-ups are open', {
    hints: [
      `to do them: lifeboat resume ${runId}`,
      'what they are: lifeboat followups',
      'do not repeat the command; for a script that does them itself there is --no-follow-ups',
    ],
    exitCode: EXIT.waiting,
  });
}

/** As far as the run knows. */
export function isSent({ backup, restore, act, key, settings, card }: RunContext): boolean {
  return (
    [backup, restore, act].some((task) => sentOf(task) !== undefined) ||
    key.setting !== undefined ||
    settings.backups !== undefined ||
    settings.updates !== undefined ||
    card.guid !== undefined
  );
}

function answer(given: Answer, passes?: string): Move {
  return { do: 'answer', answer: given, passes };
}

/** Closes the run where it may be stopped; else leaves it. */
function stopped({ question }: Asked, error: LifeboatError): Move {
  const stop = question.options.find(({ event }) => event.type === STOP_EVENT);
  return stop === undefined || stop.disabled !== undefined ? { do: 'leave', error } : { do: 'stop', error };
}

/** Whether a run has begun to change anything. */
export function isBegun(entries: readonly Entry[]): boolean {
  return entries.some(({ type, body }) => {
    const { kind, verb } = body as { readonly kind?: unknown; readonly verb?: unknown };
    if (type === 'intent.armed') return true;
    return type === 'activity.begun' && kind === 'repeatable' && effectOf(String(verb)) !== 'none';
  });
}
