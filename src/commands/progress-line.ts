import type { Progress } from '../activities/activity.ts';
import { formatBytes, formatElapsed, formatSpan } from '../format.ts';
import { columnsOf } from '../plain/terminal.ts';
import { cutText } from '../plain/width.ts';
import { show } from '../text.ts';
import type { CommandContext } from './context.ts';

/** Progress on stderr: one line that is written over in a terminal, a line for each change elsewhere. */
export interface ProgressLine {
  report(progress: Progress): void;
  /** Leaves the line and goes on below it. */
  end(): void;
}

export function progressLine({ stderr }: CommandContext): ProgressLine {
  const drawn = stderr.isTTY === true;
  const since = performance.now();
  let last = '';
  return {
    report: (progress) => {
      const text = show(inWords(progress));
      if (text === last) return;
      if (drawn) {
        const clock = formatElapsed((performance.now() - since) / 1000);
        stderr.write(`\r\u001b[K${cutText(`${clock}  ${text}`, columnsOf(stderr) - 1)}`);
      } else if (progress.kind !== 'bytes') {
        // In a log, bytes would be a line for every chunk.
        stderr.write(`${text}\n`);
      }
      last = text;
    },
    end: () => {
      if (drawn && last !== '') stderr.write('\n');
      last = '';
    },
  };
}

function inWords(progress: Progress): string {
  if (progress.kind === 'task') return `${progress.what}: ${progress.status}`;
  if (progress.kind === 'wait') {
    const seconds = (progress.untilMs - Date.now()) / 1000;
    return `${progress.what}; looking again for ${formatSpan(seconds)}`;
  }
  const total = progress.total === undefined ? '' : ` of ${formatBytes(progress.total)}`;
  return `${progress.what}: ${formatBytes(progress.done)}${total}`;
}
