import { type Promised, withDeadlines } from '../../machines/parts/deadlines.ts';
import { stillOpen } from '../../machines/parts/follow-up.ts';
import {
  type QuestionOption as MachineOption,
  optionKey,
  type Question,
} from '../../machines/parts/question.ts';
import { readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { QuestionOption, QuestionView } from './run-view.ts';
import { viewFollowUp } from './view-follow-ups.ts';

/** Who is asked, and when. */
export interface Asked {
  readonly operator: string;
  readonly now: Date;
  /** What sets the deadlines of the follow-ups. */
  readonly promised: Promised;
}

/** A machine's question for every renderer: cleaned, with what it leaves open filled in. */
export function viewQuestion(question: Question, { operator, now, promised }: Asked): QuestionView {
  const prompt = readable(question.prompt);
  const options = question.options.map(viewOption);
  switch (question.kind) {
    case 'choice':
    case 'typed-name':
    case 'secret':
      return { ...question, prompt, options };
    case 'text': {
      const { kind, event, pattern } = question;
      const cleaned = pattern && { pattern: { source: pattern.source, says: readable(pattern.says) } };
      return { kind, prompt, event, ...cleaned, options };
    }
    case 'time': {
      const { kind, event, earliest, latest, wentWrongAt } = question;
      const suggested = question.suggested ?? minuteBefore(wentWrongAt, earliest) ?? latest;
      return { kind, prompt, event, options, ...insideRange(earliest, latest, suggested) };
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

/** The moment itself may be one too late. Undefined for no moment; never before what can be reached. */
function minuteBefore(moment: string | undefined, earliest: string): string | undefined {
  const at = Date.parse(moment ?? '') - 60_000;
  if (Number.isNaN(at)) return undefined;
  return at < Date.parse(earliest) ? earliest : new Date(at).toISOString();
}

/** What is suggested can be chosen, whatever was suggested. */
function insideRange(earliest: string, latest: string, suggested: string) {
  const at = Date.parse(suggested);
  const inside = at >= Date.parse(earliest) && at <= Date.parse(latest) ? suggested : latest;
  return { earliest: show(earliest, 40), latest: show(latest, 40), suggested: show(inside, 40) };
}

/** An option, cleaned. */
export function viewOption(option: MachineOption): QuestionOption {
  return {
    event: optionKey(option.event),
    label: readable(option.label, 80),
    recommended: option.recommended ?? false,
    ...(option.hint === undefined ? {} : { hint: readable(option.hint) }),
    ...(option.needs === undefined
      ? {}
      : { needs: { what: option.needs.what, prompt: readable(option.needs.prompt) } }),
    ...(option.disabled === undefined ? {} : { disabled: readable(option.disabled) }),
  };
}
