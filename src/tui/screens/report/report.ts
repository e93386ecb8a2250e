import type { ReportText } from '../../../view/app/run-row.ts';
import { band, scrolled } from '../../bands.ts';
import { wrapLine } from '../../line.ts';
import type { Around, BoundKey, ScreenRequest } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { isReadingIntent, READING_KEYS, type ReadingIntent, scrolledTo } from '../../parts/reading.ts';
import { filledUp } from '../../parts/table.ts';
import { proseLines } from '../../prose.ts';
import { type Line, type Look, span } from '../../span.ts';

type Intent = 'write' | 'copy' | 'journal' | ReadingIntent;

/** The report of a run, to be read and to be written into a file. */
export function reportScreen({ runId }: ScreenRequest & { readonly name: 'report' }): OpenScreen {
  const known = ({ facts }: Pick<Around, 'facts'>) => facts.get('report', runId).last?.value;
  const drawn = drawnOnce();
  return screen<number, Intent>({
    init: 0,
    subject: () => '',
    title: () => `report of run ${runId.slice(0, 10)}`,
    badge: (_, around) => known(around)?.mode ?? badgeOfHome(around),
    isTyping: () => false,
    keys: (_, around) => keysOf(known(around)),
    needs: () => [{ source: 'report', of: runId }],
    reduce: (scroll, input, around) => {
      if (input.type === 'text') return [scroll];
      const { intent, page } = input;
      if (isReadingIntent(intent)) return [scrolledTo(scroll, intent, page)];
      const report = known(around);
      if (report === undefined) return [scroll];
      if (intent === 'write') return [scroll, { type: 'write-report', runId }];
      return intent === 'copy'
        ? [scroll, { type: 'copy', text: report.command, what: 'the command that writes the report' }]
        : [scroll, { type: 'open', screen: { name: 'journal', stream: `run/${runId}` } }];
    },
    layOut: (scroll, { facts, size: { columns, rows } }, look) => {
      const { part, last } = facts.get('report', runId);
      const lines =
        last !== undefined
          ? drawn(last.value, columns, look)
          : part.state === 'failed'
            ? wrapLine([span('there is no report: ', 'status.bad'), span(part.why)], columns, 2)
            : [[span('reading the journal of the run', 'text.dim')]];
      const { shown, page } = scrolled(lines, scroll, columns, rows, look);
      return { page, bands: [band(filledUp(shown, rows), columns, rows)] };
    },
  });
}

/** A report is long: it is broken into rows when it or the screen changes, not at each frame. */
function drawnOnce(): (report: ReportText, width: number, look: Look) => readonly Line[] {
  let last: { markdown: string; width: number; look: Look; lines: readonly Line[] } | undefined;
  return ({ markdown }, width, look) => {
    if (last?.markdown !== markdown || last.width !== width || last.look !== look)
      last = { markdown, width, look, lines: proseLines(markdown, width, look) };
    return last.lines;
  };
}

function keysOf(report: ReportText | undefined): readonly BoundKey<Intent>[] {
  const disabled = report === undefined ? 'the report is not there' : undefined;
  return [
    {
      intent: 'write',
      keys: ['o'],
      shown: 'o',
      label: 'write HTML',
      description: 'write the report as HTML into a new file in the current folder',
      inFooter: true,
      disabled,
    },
    {
      intent: 'copy',
      keys: ['y'],
      shown: 'y',
      label: 'copy command',
      description: 'copy the command that writes the report',
      inFooter: true,
      disabled,
    },
    {
      intent: 'journal',
      keys: ['e'],
      shown: 'e',
      label: 'entries',
      description: 'show the entries of the run in the journal',
      inFooter: true,
      disabled,
    },
    ...READING_KEYS,
    WAY_BACK,
  ];
}

/** The stack of screens takes it. */
const WAY_BACK: BoundKey<Intent> = {
  intent: 'journal',
  keys: [],
  shown: 'Esc',
  label: 'back',
  description: 'go back',
  inFooter: true,
};
