import { show } from '../text.ts';
import type { RunEnd } from '../view/run-port.ts';
import type { RunView } from '../view/run-view.ts';

/** The last words about a run, for stdout: how it ended, what it was, how to go on. Plain text, one fact a line. */
export function formatSummary(view: RunView, end: RunEnd): string {
  const about = `run ${show(view.runId)}: ${show(view.title)}, ${show(view.instance)}, ${view.mode}`;
  const { outcome } = view;
  if (end.how === 'ended') {
    const title =
      outcome === undefined
        ? `ended with exit code ${end.exitCode}`
        : `${WORDS[outcome.tone]}: ${show(outcome.title)}`;
    return lines(title, ...(outcome?.lines ?? []).map((line) => `  ${show(line)}`), about);
  }
  const title = end.how === 'paused' ? 'paused: the run waits for credentials' : 'left open: nothing is lost';
  return lines(title, about, `resume with: lifeboat resume ${show(view.runId)}`);
}

const WORDS = {
  good: 'done',
  warn: 'done, with remarks',
  bad: 'failed',
} as const;

function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
