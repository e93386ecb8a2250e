import { counted, formatSeconds } from '../base/format.ts';
import { show } from '../base/text.ts';
import { closedWords, stillOpen } from '../view/follow-up-words.ts';
import { afterLeaving, type RunEnd } from '../view/run-port.ts';
import type { ObjectiveView, OutcomeView, RunView, Tone } from '../view/run-view.ts';
import { followUpLine } from './describe-question.ts';

/** For stdout: how the run ended, what it was, how to continue. Plain text, one fact per line. */
export function formatSummary(view: RunView, end: RunEnd): string {
  const about = `run ${show(view.runId)}: ${show(view.title)}, ${show(view.instance)}, ${view.mode}`;
  const { outcome } = view;
  const open = stillOpen(view.followUps);
  const clocks = view.objectives.map((objective) => objectiveWords(objective, end.how === 'ended'));
  const followUps =
    open.length === 0
      ? outcome === undefined
        ? []
        : [closedWords(view.followUps, outcome).text]
      : [
          `${counted(open.length, 'open follow-up')}; list them with: lifeboat followups list`,
          ...open.map((followUp) => `  ${followUpLine(followUp)}`),
        ];
  if (end.how === 'ended') {
    if (outcome === undefined)
      return lines(`ended with exit code ${end.exitCode}`, about, ...clocks, ...followUps);
    return lines(
      headline(outcome),
      ...outcome.remarks.map(({ tone, text }) => `  ${REMARKS[tone] ?? ''}${show(text)}`),
      ...(outcome.ways ?? []).flatMap(({ when, command }) => [`${show(when)}:`, `  ${show(command, 4_000)}`]),
      about,
      ...(outcome.took === '' ? [] : [`took ${show(outcome.took)}`]),
      ...clocks,
      ...followUps,
      `report: ${show(outcome.report.command)}`,
      ...(outcome.anchor === undefined ? [] : [`anchor for the ticket: ${show(outcome.anchor)}`]),
      ...outcome.groups.flatMap(({ title, facts }) => [
        `${show(title)}:`,
        ...facts.map(({ label, value }) => `  ${show(label)}: ${show(value)}`),
      ]),
    );
  }
  if (view.watched !== undefined)
    return lines(
      'no longer watching: this process has changed nothing',
      about,
      ...clocks,
      ...followUps,
      show(view.watched.driver),
    );
  const title =
    end.how === 'paused'
      ? 'paused: the run waits for credentials'
      : view.gone === undefined
        ? 'left open: nothing is lost'
        : 'left: the run ends here';
  return lines(title, about, ...clocks, ...followUps, afterLeaving(view));
}

/** `proven: the key is rotated and proven`; a verdict at the start of the sentence is not repeated. */
function headline({ verdict, title }: OutcomeView): string {
  return title.startsWith(verdict) ? show(title) : `${verdict}: ${show(title)}`;
}

/** `RTO: met: 28 min 4 s of 30 min`, with the word of its tone while it runs. */
function objectiveWords(objective: ObjectiveView, isOver: boolean): string {
  const { name, value, limit, tone, verdict, detail, why = '' } = objective;
  const word =
    verdict !== undefined && (isOver || verdict === 'missed')
      ? `${verdict}${verdict === 'given up' ? ' after ' : ': '}`
      : tone === 'warn'
        ? 'attention: '
        : '';
  const shown = value === undefined ? 'not known' : formatSeconds(value);
  const of = limit === undefined ? '' : ` of ${formatSeconds(limit)}`;
  const more = [detail, why].filter((text) => text !== '').map((text) => show(text));
  return `${name}: ${word}${shown}${of}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

const REMARKS: Readonly<Partial<Record<Tone, string>>> = { warn: 'attention: ', bad: 'attention: ' };

function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
