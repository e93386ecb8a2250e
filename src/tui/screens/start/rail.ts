import type { StartStep } from '../../../view/app/situations.ts';
import { formatUtc } from '../../../view/zone.ts';
import { wrapLine } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { type Line, type Look, type Span, span } from '../../span.ts';
import { type Answers, chosenSituation, type State, stepsFor } from './state.ts';

const STEP_WORDS: Readonly<Record<StartStep, string>> = {
  situation: 'situation',
  instance: 'instance',
  target: 'target',
  backup: 'backup',
  incident: 'since when',
  moment: 'back to',
  check: 'check',
};

/** The steps with what was answered; two rows at most. */
export function railLines(state: State, { now, size }: Around, look: Look): readonly Line[] {
  const { columns: width, rows } = size;
  const steps = stepsFor(state.answers);
  const here = steps.indexOf(state.step);
  const pieces = steps.flatMap((step, at): Span[] => {
    const gap = span(at === 0 ? '' : ' ');
    if (at === here) return [gap, span(`${look.glyphs.current} ${STEP_WORDS[step]}`, 'selected')];
    if (at > here) return [gap, span(`${look.glyphs.ahead} ${STEP_WORDS[step]}`, 'text.dim')];
    const words = answerWords(step, state.answers, now);
    return [gap, span(look.glyphs.done, 'status.ok'), span(` ${words}`)];
  });
  const most = rows < 14 ? 1 : 2;
  const lines = wrapLine(pieces, width, 2);
  // Where they do not fit, those up to the present one are shown.
  const at = lines.findIndex((line) => line.some(({ token }) => token === 'selected'));
  const first = Math.max(0, at - most + 1);
  return lines.slice(first, first + most);
}

function answerWords(step: StartStep, answers: Answers, now: Date): string {
  switch (step) {
    case 'situation':
      return chosenSituation({ answers })?.id.replaceAll('-', ' ') ?? '';
    case 'instance':
      return answers.instance ?? '';
    case 'target':
      return `into ${answers.target ?? ''}`;
    case 'backup':
      if (typeof answers.backup === 'string') return `backup ${answers.backup}`;
      return chosenSituation({ answers })?.asksSource === false ? 'newest backup' : 'the run asks for it';
    case 'incident':
      return typeof answers.incident === 'string'
        ? `since ${shortTime(answers.incident, now)}`
        : 'since an unknown time';
    default:
      return typeof answers.moment === 'string'
        ? `back to ${shortTime(answers.moment, now)}`
        : 'the run asks for the time';
  }
}

/** Without the day where that is today. */
function shortTime(at: string, now: Date): string {
  const [said, today] = [formatUtc(Date.parse(at)), formatUtc(now.getTime()).slice(0, 11)];
  return said.startsWith(today) ? said.slice(today.length) : said;
}
