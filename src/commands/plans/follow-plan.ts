import { NO_INSTANCE } from '../../../machines/parts/plan.ts';
import type { Question } from '../../../machines/parts/question.ts';
import { isoOf } from '../../base/date.ts';
import { EXIT, type ExitCode, failureOf } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { isForPeople } from '../../cli/print-result.ts';
import type { EarlySignals } from '../../cli/stop-signal.ts';
import type { Waiting } from '../../plans/conductor.ts';
import type { ShownChild } from '../../plans/conductor-port.ts';
import { keyOf } from '../../plans/schedule.ts';
import { metaOf, questionOf } from '../../runner/answer.ts';
import { workersOf } from '../../runner/wakes.ts';
import { leftBySignal } from '../../view/run-port.ts';
import { printWaiting } from '../run/print-headless.ts';
import type { DrivenPlan } from './drive-plan.ts';
import { FlagAnswers } from './flag-answers.ts';
import type { PlanSetting } from './plan-setting.ts';
import type { PlanFlags } from './run.ts';
import { takenWishes, takeWishes } from './wishes.ts';

/**
 * To its end, an unanswerable question or a signal, with its course on stderr. Resolves with the exit code:
 * that of the run; 3 or 5 where a person has to act, also where an answer of the flags was refused; 130 after
 * a signal. Rejects if decisions of other processes can no longer be read; the run is left, resumable.
 */
export async function followPlan(
  { context, workspace }: PlanSetting,
  { run, conductor }: DrivenPlan,
  { confirm = [], yes = false }: PlanFlags,
  early: EarlySignals,
): Promise<ExitCode> {
  const { runId, entries } = run.state();
  const say = (text: string) => {
    if (isForPeople(context)) context.stderr.write(`${show(text, 300)}\n`);
  };
  if (workersOf(entries) !== undefined)
    say('its steps are left to the workers; `lifeboat workers` lists them');
  let left: Left | undefined;
  const leave = (how: Left, why: string) => {
    left ??= how;
    conductor.leave(why).catch(() => undefined);
  };
  const onSignal = (signal: NodeJS.Signals) => leave({ by: 'signal' }, leftBySignal(signal));
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const came = early.release();
  if (came !== undefined) onSignal(came);

  const said = new Map<string, string>();
  let phase = '';
  let refusal: string | undefined;
  const answers = new FlagAnswers(run, { confirm, yes }, (thrown) => {
    refusal = failureOf(thrown).shortMessage;
    look();
  });
  const look = () => {
    const { snapshot } = run.state();
    const title = metaOf(snapshot)?.title ?? '';
    if (title !== phase && title !== '') say(`plan: ${title}`);
    phase = title;
    for (const child of conductor.children()) report(child, said, say);
    if (answers.give()) return;
    const waiting = conductor.waiting();
    if (left !== undefined || answers.isAnswering || waiting === undefined) return;
    const question = questionOf(snapshot);
    const waits =
      question?.kind === 'typed-name' && question.byOthers !== undefined
        ? `it waits for an approval to ${question.order}${refusal === undefined ? '' : `: ${refusal}`}`
        : waitsFor(question, conductor.children(), snapshot.context);
    const why = `${waits}${limitOf(waiting)}`;
    leave({ by: 'waiting', why }, why);
  };
  const unsubscribe = conductor.subscribe(look);
  const stop = new AbortController();
  const wishes = takeWishes(workspace.journal, runId, conductor, takenWishes(entries), stop.signal);
  wishes.catch((thrown: unknown) => {
    if (!stop.signal.aborted) leave({ by: 'failure', thrown }, failureOf(thrown).shortMessage);
  });
  try {
    await conductor.run();
  } finally {
    stop.abort();
    unsubscribe();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
  const { snapshot } = run.state();
  const { exitCode } = await run.ended;
  if (snapshot.status === 'done') {
    const closing = run.state().entries.findLast(({ type }) => type === 'run.closed');
    say(`plan: ${(closing?.body as { readonly title?: string } | undefined)?.title ?? 'over'}`);
    return exitCode;
  }
  const how = left as Left | undefined;
  if (how?.by === 'failure') throw how.thrown;
  if (how?.by === 'signal') {
    say(`left: to go on: lifeboat resume ${runId}`);
    return EXIT.interrupted;
  }
  const isInDoubt = conductor.children().some((child) => child.isInDoubt);
  const code = isInDoubt ? EXIT.inDoubt : EXIT.waiting;
  printWaiting(context, {
    runId,
    why: how?.why ?? 'it waits for a person',
    exitCode: code,
    after: `to go on: lifeboat resume ${runId}; what waits: lifeboat plans show ${runId}`,
    question: questionOf(snapshot),
  });
  return code;
}

/** Why this process lets go of a run that is not over. */
type Left =
  | { readonly by: 'signal' }
  | { readonly by: 'waiting'; readonly why: string }
  | { readonly by: 'failure'; readonly thrown: unknown };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Says a child's state when it is a new one. */
function report(child: ShownChild, said: Map<string, string>, say: (text: string) => void): void {
  const { group, lane, step, state, where, question, problem } = child;
  const key = keyOf(child);
  const text = problem ?? (state === 'waiting' || state === 'failing' ? question?.prompt : where) ?? '';
  const line = `${state} ${text}`;
  if (said.get(key) === line) return;
  said.set(key, line);
  const words = {
    'at-work': '',
    waiting: 'waits for a person: ',
    failing: 'FAILED: ',
    done: 'done',
    failed: 'ended without success',
  };
  const name = lane === '-' ? `${group} ${step}` : `${group} ${lane} ${step}`;
  const why = state === 'done' ? '' : state === 'failed' && text !== '' ? `: ${text}` : text;
  say(`${name}: ${words[state]}${why}`);
}

function placeOf({ group, lane, step }: ShownChild): string {
  return lane === NO_INSTANCE ? `${group} ${step}` : `${lane} ${step}`;
}

function limitOf({ untilMs }: Waiting): string {
  if (untilMs === undefined) return '';
  return `; from ${formatTime(isoOf(untilMs))} UTC on, the plan goes on without what still waits`;
}

/** What the run of a plan waits for: a decision, groups that are held, steps that ask or cannot begin. */
export function waitsFor(
  question: Question | undefined,
  children: readonly ShownChild[],
  context: unknown,
): string {
  if (question?.kind === 'typed-name')
    return `it needs the name of the group: --confirm ${question.expected}: ${question.prompt}`;
  if (question !== undefined) return `it needs a decision: ${question.prompt}`;
  const waiting = children.filter(({ state }) => state === 'waiting' || state === 'failing');
  const held = Object.entries(
    (context as { readonly groups?: Readonly<Record<string, { readonly held?: object }>> }).groups ?? {},
  )
    .filter(([, { held }]) => held !== undefined)
    .map(([id]) => id);
  const groups = held.length === 0 ? [] : [`${counted(held.length, 'group')} (${held.join(', ')}) held`];
  const [first] = waiting;
  const runs =
    first === undefined
      ? []
      : [
          `${counted(waiting.length, 'run')} waiting, first ${placeOf(first)}: ${first.problem ?? first.question?.prompt ?? ''}`,
        ];
  return [...groups, ...runs].join('; ') || 'it waits for a person';
}
