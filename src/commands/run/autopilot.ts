import { GivenAnswers } from '../../../machines/parts/given-answers.ts';
import { type Answer, optionKey, type Question } from '../../../machines/parts/question.ts';
import { stillOpen } from '../../../machines/parts/unfinished.ts';
import { EXIT, type ExitCode, LifeboatError } from '../../base/errors.ts';
import { formatSeconds } from '../../base/format.ts';
import type { Secret } from '../../base/secret.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { questionOf } from '../../runner/answer.ts';
import type { Run } from '../../runner/run.ts';
import { PATIENCE_MS, watchOverdue } from './leave-overdue.ts';

/** What the flags decide for a run without a terminal. */
export interface Policy {
  readonly yes: boolean;
  /** Confirms a destructive step, once in this process. It does not override a finding. */
  readonly confirm?: string | undefined;
  /** The new key, instead of a generated one. */
  readonly key?: Secret | undefined;
  /** The point in time to restore to, RFC 3339. */
  readonly time?: string | undefined;
  readonly backup?: number | undefined;
  /** The word that a question asks for, such as a guid. */
  readonly word?: string | undefined;
  /** The answer to the run's current question, given before anything else. */
  readonly first?: Answer | undefined;
  /** Proofs of follow-ups by id: given when nothing is left that could be done from here. */
  readonly proofs?: Readonly<Record<string, string>> | undefined;
  /** Leave when nothing has been written for this long. Milliseconds; undefined never leaves. */
  readonly patienceMs?: number | undefined;
  /** Leave a wait that is this far over its limit. Milliseconds; half an hour if undefined. */
  readonly overdueMs?: number | undefined;
}

/**
 * Answers what the policy decides and leaves the run, resumable, at the first question that it does not.
 * Resolves with the exit code and, when it left, with the sentence that says why.
 */
export async function autopilot(
  run: Run,
  policy: Policy,
): Promise<{ exitCode: ExitCode; why: string | undefined }> {
  let confirmed = false;
  let { first } = policy;
  const given = new GivenAnswers();
  let left: { exitCode: ExitCode; why: string } | undefined;
  let busy = false;

  const look = async () => {
    const { snapshot } = run.state();
    const question = questionOf(snapshot);
    if (question === undefined || busy || left !== undefined) return;
    busy = true;
    try {
      const answer = first ?? answerTo(question, policy, { confirmed, instance: run.state().instance });
      first = undefined;
      if (typeof answer === 'string') {
        left = { exitCode: exitCodeAt(snapshot), why: answer };
        await run.detach(answer);
        return;
      }
      if (!given.mayHelp(question, answer)) {
        left = { exitCode: exitCodeAt(snapshot), why: `it was tried and did not help: ${question.prompt}` };
        await run.detach(left.why);
        return;
      }
      given.add(question, answer);
      confirmed ||= answer.typed !== undefined;
      await run.answer(answer);
    } catch (thrown) {
      left = { exitCode: EXIT.waiting, why: wordsOf(thrown) };
      await run.detach(left.why);
    } finally {
      busy = false;
    }
    void look();
  };

  const watch = watchFor(policy.patienceMs, run, (why) => {
    left ??= { exitCode: EXIT.waiting, why };
    void run.detach(why);
  });
  const overdue = watchOverdue(policy.overdueMs ?? PATIENCE_MS, (why) => {
    left ??= { exitCode: EXIT.waiting, why };
    void run.detach(why);
  });
  const lookAtStep = () => {
    const { activity } = run.state();
    overdue.look(activity?.since, activity?.progress?.overdue);
  };
  const unsubscribe = run.subscribe(() => {
    watch.look();
    lookAtStep();
    void look();
  });
  lookAtStep();
  void look();
  const end = await run.ended.finally(() => {
    watch.stop();
    overdue.stop();
    unsubscribe();
  });
  return { exitCode: left?.exitCode ?? end.exitCode, why: left?.why };
}

/**
 * Asks the service once about a call in doubt and leaves before anything else. Resolves with exit code 5
 * while that is unknown. Only for a run with a call in doubt: any other would go on.
 */
export async function lookOnly(run: Run): Promise<{ exitCode: ExitCode; why: string | undefined }> {
  const events = () => run.state().entries.filter(({ type }) => type === 'event').length;
  const isInDoubt = () => run.state().snapshot.hasTag('in-doubt' as never);
  const asks = isInDoubt();
  // The answer of a person is an event as well as the end of the look.
  const ended = events() + (asks ? 2 : 1);
  let left: { exitCode: ExitCode; why: string } | undefined;
  const leave = (exitCode: ExitCode, why: string) => {
    left ??= { exitCode, why };
    void run.detach(why);
  };
  // Called before the run performs what comes next, so nothing is sent after the look.
  const look = () => {
    if (left !== undefined || events() < ended || run.state().snapshot.status === 'done') return;
    if (isInDoubt()) leave(EXIT.inDoubt, 'the service does not show what became of the call');
    else leave(EXIT.closed, 'the service shows what became of the call');
  };
  const unsubscribe = run.subscribe(look);
  if (asks)
    run
      .answer({ event: 'operator.lookAgain' })
      .catch((thrown: unknown) => leave(EXIT.waiting, wordsOf(thrown)));
  const end = await run.ended.finally(unsubscribe);
  return { exitCode: left?.exitCode ?? end.exitCode, why: left?.why };
}

/** Why an answer was rejected, with what would be accepted. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const hints = thrown instanceof LifeboatError ? thrown.hints : [];
  return [thrown.message, ...hints].join('; ');
}

/** Calls back when the journal has not grown for `patienceMs`. */
function watchFor(patienceMs: number | undefined, run: Run, tell: (why: string) => void) {
  if (patienceMs === undefined) return { look: () => undefined, stop: () => undefined };
  const why = `nothing has moved for ${formatSeconds(patienceMs / 1000)}`;
  const start = () => setTimeout(() => tell(why), patienceMs);
  let written = run.state().entries.length;
  let timer = start();
  return {
    look: () => {
      const now = run.state().entries.length;
      if (now === written) return;
      written = now;
      clearTimeout(timer);
      timer = start();
    },
    stop: () => clearTimeout(timer),
  };
}

/** The answer that the flags decide, or a sentence naming the flag that would. */
function answerTo(
  question: Question,
  policy: Policy,
  { confirmed, instance }: { readonly confirmed: boolean; readonly instance: string },
): Answer | string {
  const { yes, confirm, key } = policy;
  if (question.kind === 'time') {
    if (policy.time === undefined) return `it needs a point in time: --to TIME`;
    return { event: question.event, time: policy.time };
  }
  if (question.kind === 'text') {
    if (policy.word === undefined) return `it needs an answer: ${question.prompt}`;
    return { event: question.event, text: policy.word };
  }
  if (question.kind === 'typed-name') {
    // `--confirm` was given for the change, on the assumption of good facts, not to override a finding.
    if (question.event === 'operator.override') return `no flag overrides a finding: ${question.prompt}`;
    if (confirm === undefined) return `it needs the name of the target: --confirm ${question.expected}`;
    if (confirmed) return `--confirm is valid once, and a person has to confirm this one: ${question.prompt}`;
    return { event: question.event, typed: confirm };
  }
  if (question.kind === 'secret') {
    return key === undefined ? 'it needs a key: --key-file FILE' : { event: question.event, secret: key };
  }
  const enter = question.options.find((option) => option.event.type === 'operator.enterKey');
  if (key !== undefined && enter !== undefined) return { event: optionKey(enter.event) };
  // A guid that was given explicitly wins over any recommendation.
  const type = question.options.find((option) => option.event.type === 'operator.typeGuid');
  if (policy.word !== undefined && type !== undefined) return { event: optionKey(type.event) };
  const backups = question.options.filter(({ event }) => event.type === 'operator.chooseBackup');
  if (backups.length > 0) {
    if (policy.backup === undefined)
      return `it needs a decision: ${question.prompt} (--backup ID; \`lifeboat backups list ${shellQuoted(instance)}\` shows the ids)`;
    const meant = backups.find(({ event }) => 'id' in event && event.id === policy.backup);
    if (meant === undefined) return `backup ${policy.backup} is not among those offered: ${question.prompt}`;
    return { event: optionKey(meant.event) };
  }
  const recommended = question.options.find((option) => option.recommended && option.disabled === undefined);
  const proof = recommended === undefined ? proofFor(question, policy) : undefined;
  if (proof !== undefined) return proof;
  if (recommended === undefined) return `it needs a decision: ${question.prompt}`;
  return yes
    ? { event: optionKey(recommended.event) }
    : `it needs a decision (--yes takes the recommended one): ${question.prompt}`;
}

/** Closes the first open follow-up for which the policy has a proof. */
function proofFor(question: Question, { proofs = {} }: Policy): Answer | undefined {
  if (question.kind !== 'followUps') return undefined;
  const followUp = stillOpen(question.followUps).find(({ id }) => Object.hasOwn(proofs, id));
  return followUp && { event: question.close, id: followUp.id, text: proofs[followUp.id] ?? '' };
}

function exitCodeAt(snapshot: ReturnType<Run['state']>['snapshot']): ExitCode {
  if (snapshot.hasTag('in-doubt' as never)) return EXIT.inDoubt;
  return EXIT.waiting;
}
