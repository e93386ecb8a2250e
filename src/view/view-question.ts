import { type Promised, withDeadlines } from '../../machines/parts/follow-up.ts';
import {
  type QuestionOption as MachineOption,
  type OtherWay,
  optionKey,
  type Question,
  recoverCommand,
  STOP_EVENT,
  type Stakes,
} from '../../machines/parts/question.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { callOf, verbTo } from '../../machines/parts/verb-words.ts';
import { isoOf } from '../base/date.ts';
import type { Failure } from '../base/failure.ts';
import { counted, formatSeconds, formatTime, readable } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { type Entry, fieldsOf } from '../store/journal.ts';
import { type RunEntryBody, type RunEntryType, readRunEntry } from '../store/run-entries.ts';
import { plain } from './fallback/shell-text.ts';
import type { FactLine, QuestionOption, QuestionView, RunView, TroubleView, WayOn } from './run-view.ts';
import { viewFollowUp } from './view-follow-ups.ts';

export interface Asked {
  readonly operator: string;
  readonly now: Date;
  /** Deadlines of follow-ups are derived from it. */
  readonly promised: Promised;
  /** The config's recovery targets. */
  readonly targets?: readonly string[] | undefined;
}

/** Cleaned and completed for every renderer. `trouble` describes the failure that it asks about. */
export function viewQuestion(
  question: Question,
  { operator, now, promised, targets }: Asked,
  trouble?: TroubleView,
): QuestionView {
  const prompt = readable(question.prompt);
  const options = question.options.map(viewOption);
  switch (question.kind) {
    case 'choice': {
      const { kind, otherWays = [] } = question;
      if (trouble === undefined) return { kind, prompt, options };
      const shown = options.map((option) => withTries(option, trouble, otherWays));
      const commands = [...otherWays.map((way) => viewWay(way, targets)), ...trouble.commands];
      return { kind, prompt, options: shown, trouble: { ...trouble, commands } };
    }
    case 'secret':
      return { ...question, prompt, options };
    case 'typed-name': {
      const { kind, expected, event, stakes } = question;
      return { kind, prompt, expected, event, options, stakes: viewStakes(stakes) };
    }
    case 'text': {
      const { kind, event, pattern } = question;
      const cleaned = pattern && { pattern: { source: pattern.source, says: readable(pattern.says) } };
      return { kind, prompt, event, ...cleaned, options };
    }
    case 'time': {
      const { kind, event, earliest, latest, wentWrongAt, backupsAt = [] } = question;
      const suggested =
        question.suggested ??
        before(wentWrongAt, MINUTE_MS, earliest) ??
        before(latest, UNSAID_MS, earliest) ??
        latest;
      const marks = {
        incident: wentWrongAt === undefined ? undefined : show(wentWrongAt, 40),
        backups: backupsAt.map((at) => show(at, 40)),
      };
      return { kind, prompt, event, marks, options, ...insideRange(earliest, latest, suggested) };
    }
    case 'followUps': {
      const { kind, close, skip, doNow } = question;
      const dated = withDeadlines(stillOpen(question.followUps), promised);
      const open = dated.map((followUp) => viewFollowUp(followUp, operator, now));
      return { kind, prompt, open, close, skip, doNow, options };
    }
    default:
      return question satisfies never;
  }
}

/** Cleaned. A recovery without a target gets the only one that `targets` leaves, if there is just one. */
export function viewWay({ when, command, leadsTo }: OtherWay, targets: readonly string[] = []): WayOn {
  const shown = { when: readable(when), command: show(command, COMMAND_LIMIT), leadsTo };
  if (leadsTo.kind !== 'recover' || leadsTo.target !== undefined) return shown;
  const [target, second] = targets.filter((name) => name !== leadsTo.instance);
  if (target === undefined || second !== undefined) return shown;
  return {
    when: shown.when,
    command: show(recoverCommand(plain(leadsTo.instance), plain(target)), COMMAND_LIMIT),
    leadsTo: { ...leadsTo, target },
  };
}

/** If the instance may be lost, another try says what it would take. */
function withTries(
  option: QuestionOption,
  { tries }: TroubleView,
  ways: readonly OtherWay[],
): QuestionOption {
  const lost = ways.find(({ leadsTo }) => leadsTo.kind === 'recover')?.leadsTo.instance;
  if (option.event !== 'operator.retry' || lost === undefined) return option;
  const so = tries === undefined ? '' : ` (${tries})`;
  const does = option.hint === undefined ? '' : `; it ${option.hint}`;
  return { ...option, hint: `only if ${show(lost, 120)} answers again${so}${does}` };
}

/** Longer than any command. */
const COMMAND_LIMIT = 4_000;

function viewStakes({ overwritten, lost, lostSince, wayBack }: Stakes): Stakes {
  return {
    overwritten: readable(overwritten),
    lost: readable(lost),
    lostSince: lostSince === undefined ? undefined : show(lostSince, 40),
    wayBack: readable(wayBack),
  };
}

/** A restore to the exact time of the mistake may include it. */
const MINUTE_MS = 60_000;

/** Without a known time, the picker does not start at the latest moment, which includes the mistake. */
const UNSAID_MS = 15 * MINUTE_MS;

/** Not before `earliest`; undefined without a moment. */
function before(moment: string | undefined, ms: number, earliest: string): string | undefined {
  const at = msOf(moment) - ms;
  if (Number.isNaN(at)) return undefined;
  return at < msOf(earliest) ? earliest : isoOf(at);
}

/** Clamps a suggestion to the range. */
function insideRange(earliest: string, latest: string, suggested: string) {
  const at = msOf(suggested);
  const inside = at >= msOf(earliest) && at <= msOf(latest) ? suggested : latest;
  return { earliest: show(earliest, 40), latest: show(latest, 40), suggested: show(inside, 40) };
}

function viewNeeds({ event, needs, disabled }: MachineOption): QuestionOption['needs'] {
  if (needs !== undefined) return { what: needs.what, prompt: readable(needs.prompt) };
  // Stopping ends the run for good, so it needs a reason.
  const isStop = event.type === STOP_EVENT && disabled === undefined;
  return isStop ? { what: 'reason', prompt: 'the run ends for good: why is it stopped?' } : undefined;
}

function viewOption(option: MachineOption): QuestionOption {
  return {
    event: optionKey(option.event),
    label: readable(option.label, 80),
    recommended: option.recommended ?? false,
    hint: option.hint && readable(option.hint),
    needs: viewNeeds(option),
    disabled: option.disabled && readable(option.disabled),
  };
}

/** By the record: the attempt or request, the answer, what the service showed, and commands to use. */
export function viewTrouble(failure: Failure, entries: readonly Entry[], runId: string): TroubleView {
  return {
    facts: factsOf(failure, attemptIn(entries)),
    commands: commandsFor(failure, runId),
    tries: triesIn(entries),
  };
}

/** Failures in a row: `the last 3 tries got 502`. */
function triesIn(entries: readonly Entry[]): string | undefined {
  let activity: string | undefined;
  const answers: string[] = [];
  for (const { type, body } of entries.toReversed()) {
    if (type !== 'event') continue;
    const failed = failedActivity(body);
    activity ??= failed;
    if (activity !== undefined && doneActivity(body) === activity) break;
    if (failed !== undefined && failed === activity) answers.push(answerIn(body));
  }
  if (answers.length === 0) return undefined;
  const got = [...new Set(answers)].join(' and ');
  return answers.length === 1 ? `the last try ${got}` : `the last ${answers.length} tries ${got}`;
}

function answerIn(body: Entry['body']): string {
  const { error } = fieldsOf(fieldsOf(body)['event']);
  const { status, transport } = fieldsOf(fieldsOf(error)['evidence']);
  if (typeof status === 'number') return `got ${status}`;
  return typeof transport === 'string' ? 'got no answer' : 'failed';
}

type Found<T extends RunEntryType> = { readonly at: string; readonly body: RunEntryBody<T> };

/** The call that failed last. */
interface Attempt {
  readonly begun: Found<'activity.begun'>;
  readonly failedAt: string;
  /** Every time it was sent. */
  readonly sends: readonly Found<'intent.armed'>[];
  readonly outcome: Found<'intent.outcome'> | undefined;
  readonly judged: Found<'intent.judged'> | undefined;
}

function attemptIn(entries: readonly Entry[]): Attempt | undefined {
  const failed = entries.findLastIndex(
    ({ type, body }) => type === 'event' && failedActivity(body) !== undefined,
  );
  const activity = failedActivity(entries[failed]?.body ?? null);
  const before = entries.slice(0, Math.max(0, failed));
  const begun = about(before, 'activity.begun', 'activity', activity).at(-1);
  if (begun === undefined) return undefined;
  const { key } = begun.body;
  return {
    begun,
    failedAt: entries[failed]?.at ?? begun.at,
    sends: about(before, 'intent.armed', 'intent', key),
    outcome: about(before, 'intent.outcome', 'intent', key).at(-1),
    judged: about(before, 'intent.judged', 'intent', key).findLast(({ body }) => body.verdict !== 'nothing'),
  };
}

function failedActivity(body: Entry['body']): string | undefined {
  return /^xstate\.error\.actor\.(.+)$/u.exec(eventType(body))?.[1];
}

function doneActivity(body: Entry['body']): string | undefined {
  return /^xstate\.done\.actor\.(.+)$/u.exec(eventType(body))?.[1];
}

function eventType(body: Entry['body']): string {
  const { type } = fieldsOf(fieldsOf(body)['event']);
  return typeof type === 'string' ? type : '';
}

function about<T extends RunEntryType>(
  entries: readonly Entry[],
  type: T,
  field: string,
  value: string | undefined,
): Found<T>[] {
  return entries.flatMap((entry) => {
    if (entry.type !== type || fieldsOf(entry.body)[field] !== value) return [];
    const known = readRunEntry(entry);
    return known === undefined ? [] : [{ at: entry.at, body: known.body as RunEntryBody<T> }];
  });
}

function factsOf(failure: Failure, attempt: Attempt | undefined): FactLine[] {
  const { outcome, judged, failedAt } = attempt ?? {};
  const answer = outcome?.body.failure ?? failure;
  const rows: readonly (readonly [label: string, value: string | undefined])[] = [
    ...(attempt === undefined ? [] : [sentRow(attempt)]),
    ['answer', answerWords(answer, outcome?.at ?? failedAt)],
    ['service', shownWords(judged?.body.failure ?? failure, judged?.at ?? failedAt)],
    ['code', [failure.code, intentOf(attempt)].filter((words) => words !== undefined).join(', ')],
  ];
  return rows.flatMap(([label, value]): FactLine[] =>
    value === undefined ? [] : [{ label, value: readable(value), tone: 'plain' }],
  );
}

/** The request and how often it was sent; if nothing was sent, the attempt. */
function sentRow({ begun, sends }: Attempt): readonly [string, string] {
  const { verb, kind, input } = begun.body;
  const last = sends.at(-1);
  const words = verbTo(verb, input);
  if (last !== undefined) {
    const times = sends.length === 1 ? 'once' : `${sends.length} times, last`;
    return ['sent', `${callOf(verb, input) ?? `the request to ${words}`}, ${times} at ${clock(last.at)}`];
  }
  const safe = {
    read: 'it only reads',
    repeatable: 'the same again changes nothing more',
    attended: 'it runs again only when you say so',
    once: 'nothing was sent',
  };
  return ['tried', `to ${words}, at ${clock(begun.at)}; ${safe[kind]}`];
}

/** Undefined if the failure has no answer. */
function answerWords({ evidence }: Pick<Failure, 'evidence'>, at: string | undefined): string | undefined {
  const { status, word, transport, requestId } = evidence;
  const parts = [
    ...(typeof status === 'number' ? [`status ${status}`] : []),
    ...(typeof word === 'string' ? [`"${show(word, 60)}"`] : []),
    ...(typeof transport === 'string' ? [`none: ${show(transport, 60)}`] : []),
    ...(typeof requestId === 'string' ? [`request id ${show(requestId, 100)}`] : []),
  ];
  return parts.length === 0 ? undefined : [...parts, ...(at === undefined ? [] : [clock(at)])].join(', ');
}

/** About the outcome of a call. */
function shownWords(
  { code, evidence }: Pick<Failure, 'code' | 'evidence'>,
  at: string | undefined,
): string | undefined {
  const when = at === undefined ? '' : ` at ${clock(at)}`;
  const { candidates, cause } = evidence;
  if (Array.isArray(candidates) && candidates.length > 0)
    return `showed ${counted(candidates.length, 'task')}${when} that the request may have become`;
  if (code === 'doubt.unreadable' && typeof cause === 'string')
    return `could not be asked${when}: ${show(cause, 160)}`;
  return code.startsWith('doubt.') ? `showed nothing${when} that resolves it` : undefined;
}

function intentOf(attempt: Attempt | undefined): string | undefined {
  return attempt?.begun.body.kind === 'once' ? `intent ${show(attempt.begun.body.key, 80)}` : undefined;
}

function clock(at: string): string {
  return `${formatTime(at).slice(11)} UTC`;
}

/** `lifeboat doctor` checks these: config, key store, route to the service, token, platform. */
const DOCTORS = /^(?:(?:service|credentials|keys|platform)\.|doubt\.unreadable$)/u;

function commandsFor({ code }: Failure, runId: string): TroubleView['commands'] {
  return [
    ...(DOCTORS.test(code)
      ? [{ when: 'check what this machine needs to reach it', command: 'lifeboat doctor' }]
      : []),
    { when: 'read what is on record of this run', command: `lifeboat audit show ${show(runId, 40)}` },
  ];
}

/** Seconds. */
export interface OverdueFacts {
  /** Total time so far, also under earlier processes. */
  readonly seconds: number;
  readonly limitSeconds: number;
  readonly basis: 'history' | 'objective' | 'default';
  readonly detail: string;
}

/** `mayLeave`: the run can be resumed later. Changes only with the next limit: no text appears twice. */
export function overdueBanner(
  title: string,
  status: string | undefined,
  overdue: OverdueFacts,
  mayLeave: boolean,
): RunView['banner'] {
  // No interface reports the position in the queue.
  const state = status === 'queued' ? ', queued' : '';
  return {
    tone: 'warn',
    text: readable(
      `${title}${state} for more than ${formatSeconds(overdue.limitSeconds)}: ${overdue.detail}`,
    ),
    hints: [
      mayLeave
        ? 'waiting is safe, and so is leaving: the service goes on by itself, and `lifeboat resume` looks again'
        : 'waiting is safe',
      'the dashboard may show what holds it up',
    ],
  };
}

/** While waiting; undefined if the machine offers no options. */
export function besideQuestion(options: readonly MachineOption[]): QuestionView | undefined {
  if (options.length === 0) return undefined;
  const prompt = 'it takes longer than it should: keep waiting, or';
  return { kind: 'choice', prompt, beside: true, options: options.map(viewOption) };
}
