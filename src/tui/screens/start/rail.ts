import { msOf } from '../../../base/instant.ts';
import type { StartStep } from '../../../view/app/situations.ts';
import { takesNewest } from '../../../view/app/start-wish.ts';
import { formatUtc } from '../../../view/zone.ts';
import { cutLine, lineWidth } from '../../line.ts';
import type { Around } from '../../live-screen.ts';
import { type Line, type Look, span } from '../../span.ts';
import { backupName } from './moment.ts';
import { chosenSituation, type State, stepsFor } from './state.ts';

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
export function railLines(state: State, around: Around, look: Look): readonly Line[] {
  const { size } = around;
  const { columns: width, rows } = size;
  const steps = stepsFor(state.answers);
  const here = steps.indexOf(state.step);
  const pieces = steps.map((step, at): Line => {
    if (at === here) return [span(`${look.glyphs.current} ${STEP_WORDS[step]}`, 'selected')];
    if (at > here) return [span(`${look.glyphs.ahead} ${STEP_WORDS[step]}`, 'text.dim')];
    return [span(look.glyphs.done, 'status.ok'), span(` ${answerWords(step, state, around)}`)];
  });
  const most = rows < 14 ? 1 : 2;
  const lines = inRows(pieces, width, look);
  // Where they do not fit, those up to the present one are shown.
  const at = lines.findIndex((line) => line.some(({ token }) => token === 'selected'));
  const first = Math.max(0, at - most + 1);
  return lines.slice(first, first + most);
}

/** As many steps in a row as fit; none is broken, and one that is longer than a row is cut. */
function inRows(steps: readonly Line[], width: number, look: Look): readonly Line[] {
  const rows: Line[] = [];
  for (const step of steps) {
    const row = rows.at(-1);
    const joined = row === undefined ? step : [...row, span(' '), ...step];
    if (row !== undefined && lineWidth(joined) <= width) rows[rows.length - 1] = joined;
    else rows.push(cutLine(row === undefined ? step : [span('  '), ...step], width, look));
  }
  return rows;
}

function answerWords(step: StartStep, state: State, around: Around): string {
  const { answers } = state;
  const { now } = around;
  switch (step) {
    case 'situation':
      return chosenSituation({ answers })?.id.replaceAll('-', ' ') ?? '';
    case 'instance':
      return answers.instance ?? '';
    case 'target':
      return `into ${answers.target ?? ''}`;
    case 'backup':
      if (typeof answers.backup === 'string') return `backup ${backupName(state, around)}`;
      return takesNewest(chosenSituation({ answers })?.wish) ? 'newest backup' : 'the run asks for it';
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
  const [said, today] = [formatUtc(msOf(at)), formatUtc(now.getTime()).slice(0, 11)];
  return said.startsWith(today) ? said.slice(today.length) : said;
}
