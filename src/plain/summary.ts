import { counted, formatSeconds } from '../base/format.ts';
import { show } from '../base/text.ts';
import { stillOpen } from '../view/follow-up-words.ts';
import { afterLeaving } from '../view/leaving.ts';
import type { RunEnd } from '../view/run-port.ts';
import type { ObjectiveView, RunView } from '../view/run-view.ts';
import { followUpLine } from './describe-follow-up.ts';

/**
 * The last words about a run, for stdout: how it ended, what it was, how to go on. Plain text, one fact a
 * line.
 */
export function formatSummary(view: RunView, end: RunEnd): string {
  const about = `run ${show(view.runId)}: ${show(view.title)}, ${show(view.instance)}, ${view.mode}`;
  const { outcome } = view;
  const open = stillOpen(view.followUps);
  const clocks = view.objectives.map(objectiveWords);
  const followUps =
    open.length === 0
      ? []
      : [
          `${counted(open.length, 'open follow-up')}; list them with: lifeboat followups list`,
          ...open.map((followUp) => `  ${followUpLine(followUp)}`),
        ];
  if (end.how === 'ended') {
    const title =
      outcome === undefined
        ? `ended with exit code ${end.exitCode}`
        : `${WORDS[outcome.tone]}: ${show(outcome.title)}`;
    return lines(
      title,
      ...(outcome?.lines ?? []).map((line) => `  ${show(line)}`),
      about,
      ...clocks,
      ...followUps,
    );
  }
  const title =
    end.how === 'paused'
      ? 'paused: the run waits for credentials'
      : view.gone === undefined
        ? 'left open: nothing is lost'
        : 'left: the run ends here';
  return lines(title, about, ...clocks, ...followUps, afterLeaving(view));
}

/** `RTO: 28 min 4 s of 30 min`, with the word of its tone. */
function objectiveWords({ name, value, limit, tone, detail }: ObjectiveView): string {
  const word = tone === 'bad' ? 'missed: ' : tone === 'warn' ? 'attention: ' : '';
  const shown = value === undefined ? 'not known' : formatSeconds(value);
  const of = limit === undefined ? '' : ` of ${formatSeconds(limit)}`;
  return `${name}: ${word}${shown}${of}${detail === '' ? '' : ` (${show(detail)})`}`;
}

const WORDS = {
  good: 'done',
  warn: 'done, with remarks',
  bad: 'failed',
} as const;

function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
