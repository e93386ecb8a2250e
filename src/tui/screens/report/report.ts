import type { ReportText } from '../../../view/app/sources.ts';
import { scrolledBody } from '../../bands.ts';
import { memoised, wrapLine } from '../../line.ts';
import { type Around, type BoundKey, footerKey, type ScreenRequest } from '../../live-screen.ts';
import { badgeOfHome, type OpenScreen, screen } from '../../module-screen.ts';
import { BACK_KEY } from '../../parts/list.ts';
import { isReadingIntent, READING_KEYS, type ReadingIntent, scrolledTo } from '../../parts/reading.ts';
import { proseLines } from '../../prose.ts';
import { span } from '../../span.ts';

type Intent = 'write' | 'bundle' | 'copy' | 'journal' | ReadingIntent;

export function reportScreen({ runId }: ScreenRequest & { readonly name: 'report' }): OpenScreen {
  const known = ({ facts }: Pick<Around, 'facts'>) => facts.get('report', runId).last?.value;
  // Memoised: a long report is wrapped only when it or the screen changes, not for each frame.
  const drawn = memoised(proseLines);
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
      if (intent === 'bundle') return [scroll, { type: 'errand', errand: { do: 'export', runId } }];
      return intent === 'copy'
        ? [scroll, { type: 'copy', text: report.command, what: 'the command that writes the report' }]
        : [scroll, { type: 'open', screen: { name: 'journal', stream: `run/${runId}` } }];
    },
    layOut: (scroll, { facts, size }, look) => {
      const { columns } = size;
      const { part, last } = facts.get('report', runId);
      const lines =
        last !== undefined
          ? drawn(last.value, columns, look)
          : part.state === 'failed'
            ? wrapLine([span('there is no report: ', 'status.bad'), span(part.why)], columns, 2)
            : [[span('reading the journal of the run', 'text.dim')]];
      return scrolledBody(lines, scroll, size, look);
    },
  });
}

function keysOf(report: ReportText | undefined): readonly BoundKey<Intent>[] {
  const disabled = report === undefined ? 'the report is not there' : undefined;
  return [
    {
      ...footerKey(
        'o',
        'write',
        'write HTML',
        'write the report as HTML into a new file in the current folder',
      ),
      disabled,
    },
    {
      ...footerKey(
        'b',
        'bundle',
        'write bundle',
        'write the signed bundle for an auditor, with its own verifier, into a new file in the current folder',
      ),
      disabled,
    },
    { ...footerKey('y', 'copy', 'copy command', 'copy the command that writes the report'), disabled },
    { ...footerKey('e', 'journal', 'entries', 'show the entries of the run in the journal'), disabled },
    ...READING_KEYS,
    BACK_KEY,
  ];
}
