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
import { isoOf } from '../base/date.ts';
import { readable } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { plain } from './fallback/shell-text.ts';
import type { QuestionOption, QuestionView, TroubleView, WayOn } from './run-view.ts';
import { viewFollowUp } from './view-follow-ups.ts';

/** Who is asked, and when. */
export interface Asked {
  readonly operator: string;
  readonly now: Date;
  /** What sets the deadlines of the follow-ups. */
  readonly promised: Promised;
  /** The instances that the config keeps to recover into. */
  readonly targets?: readonly string[] | undefined;
}

/**
 * A machine's question for every renderer: cleaned, with what it leaves open filled in. `trouble` is what is
 * known of the failure that it is asked about.
 */
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

/**
 * A command that leads on, cleaned. A recovery that knows no target gets the only one that it could have
 * among `targets`.
 */
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

/** Where the instance may be lost, another try says what it would take. */
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

/** Longer than any command with its names. */
const COMMAND_LIMIT = 4_000;

function viewStakes({ overwritten, lost, lostSince, wayBack }: Stakes): Stakes {
  return {
    overwritten: readable(overwritten),
    lost: readable(lost),
    lostSince: lostSince === undefined ? undefined : show(lostSince, 40),
    wayBack: readable(wayBack),
  };
}

/** The moment when it went wrong may itself be one too late. */
const MINUTE_MS = 60_000;

/** If no time was given, the picker does not begin at the latest moment, which contains what went wrong. */
const UNSAID_MS = 15 * MINUTE_MS;

/** `ms` before a moment, but not before `earliest`; undefined for no moment. */
function before(moment: string | undefined, ms: number, earliest: string): string | undefined {
  const at = msOf(moment) - ms;
  if (Number.isNaN(at)) return undefined;
  return at < msOf(earliest) ? earliest : isoOf(at);
}

/** A suggestion that cannot be chosen gives way to the latest moment. */
function insideRange(earliest: string, latest: string, suggested: string) {
  const at = msOf(suggested);
  const inside = at >= msOf(earliest) && at <= msOf(latest) ? suggested : latest;
  return { earliest: show(earliest, 40), latest: show(latest, 40), suggested: show(inside, 40) };
}

function viewNeeds({ event, needs, disabled }: MachineOption): QuestionOption['needs'] {
  if (needs !== undefined) return { what: needs.what, prompt: readable(needs.prompt) };
  // It ends the run for good, so one key is not enough, and the record says why.
  const isStop = event.type === STOP_EVENT && disabled === undefined;
  return isStop ? { what: 'reason', prompt: 'the run ends for good: why is it stopped?' } : undefined;
}

/** An option, cleaned. */
export function viewOption(option: MachineOption): QuestionOption {
  return {
    event: optionKey(option.event),
    label: readable(option.label, 80),
    recommended: option.recommended ?? false,
    hint: option.hint && readable(option.hint),
    needs: viewNeeds(option),
    disabled: option.disabled && readable(option.disabled),
  };
}
