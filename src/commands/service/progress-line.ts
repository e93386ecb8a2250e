import type { Progress } from '../../activities/activity.ts';
import { formatBytes, formatElapsed, formatSpan } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { columnsOf } from '../../plain/terminal.ts';
import { cutText } from '../../plain/width.ts';

/** Progress on stderr: one line that overwrites itself in a terminal, a line for each change elsewhere. */
export interface ProgressLine {
  report(progress: Progress): void;
  /** Keeps the line and continues below it. */
  end(): void;
}

export function progressLine({ stderr }: CommandContext): ProgressLine {
  const drawn = stderr.isTTY === true;
  const since = performance.now();
  let latest: Progress | undefined;
  let last = '';
  let ticking: NodeJS.Timeout | undefined;
  const draw = () => {
    if (latest === undefined) return;
    const clock = formatElapsed((performance.now() - since) / 1000);
    const line = `${clock}  ${show(inWords(latest))}`;
    stderr.write(`\r\u001b[K${cutText(line, columnsOf(stderr) - 1)}`);
  };
  return {
    report: (progress) => {
      const text = show(inWords(progress));
      latest = progress;
      if (text === last) return;
      last = text;
      if (drawn) {
        draw();
        // Tick every second: a clock that stands still looks like a hung program.
        ticking ??= setInterval(draw, 1000).unref();
      } else if (progress.kind !== 'bytes') {
        // Leave out byte counts: in a log, they would add a line for every chunk.
        stderr.write(`${text}\n`);
      }
    },
    end: () => {
      clearInterval(ticking);
      ticking = undefined;
      if (drawn && latest !== undefined) stderr.write('\n');
      latest = undefined;
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
