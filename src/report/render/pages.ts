import { counted, formatSeconds } from '../../base/format.ts';
import { SLICES } from '../measure/slices.ts';
import type { Measured, Report } from '../model/model.ts';
import type { Course, Line } from '../model/model-rows.ts';
import {
  BLANK,
  type Block,
  blanks,
  type Document,
  detail,
  given,
  listOf,
  paragraph,
  type Section,
  seconds,
  type Text,
  tableOf,
  time,
} from './document.ts';
import { decidedSections } from './pages-decided.ts';
import { custodySections, provenSections, rotationSections } from './pages-proven.ts';
import { summaryBlocks } from './pages-summary.ts';
import { receiptBlocks } from './receipt-block.ts';

/** The document that every renderer writes, so that all of them say the same. */
export function pagesOf(report: Report): Document {
  const sections = [
    runSection(report),
    ...measuredSections(report),
    ...provenSections(report),
    ...rotationSections(report),
    ...custodySections(report),
    ...decidedSections(report),
    ...recordSections(report),
  ];
  return {
    title: report.title,
    mark: markOf(report),
    lead: summaryBlocks(report),
    sections: sections.filter(({ isDetail }) => isDetail !== true),
    appendix: sections.filter(({ isDetail }) => isDetail === true),
    foot:
      `Written ${time(report.generatedAt)} UTC from the journal of the run (${report.schema}). ` +
      'All times are UTC.',
    footBlocks: receiptBlocks(report.run.id, report.outcome),
  };
}

/** Identifies a loose page. */
function markOf({ run }: Report): string {
  return `${run.mode ?? 'mode unknown'}, run ${run.id}`;
}

function runSection(report: Report): Section {
  const { run, people } = report;
  const acting = people.filter(({ roles }) => roles.includes('acted')).map(({ name }) => name);
  const rows: (readonly [string, Text])[] = [
    ['Run', { code: run.id }],
    ['Runbook', run.runbook === undefined ? 'unknown' : `${run.runbook}, version ${run.version}`],
    ['Instance', run.instance ?? 'unknown'],
    ...given('Target', run.target),
    ['Mode', run.mode ?? 'unknown'],
    ['Operator', run.operator ?? 'unknown'],
    ['People who acted', acting.join(', ')],
    ...given('Part of', partOf(run)),
    ...given('Reason', run.reason),
    ...given('Incident', run.incidentAt),
    ['Started', run.startedAt ?? 'unknown'],
    ['Ended', run.endedAt ?? 'not yet'],
    ['Duration', duration(report)],
    ['Clock', clock(report)],
    [
      'Tool',
      run.tool === undefined ? 'unknown' : `${run.tool.name} ${run.tool.version}, Node ${run.tool.node}`,
    ],
  ];
  return { title: 'The run', blocks: [{ kind: 'facts', caption: 'The run', rows }] };
}

function partOf({ plan }: Report['run']): Text | undefined {
  if (plan === undefined) return undefined;
  const { run, group, lane, step, attempt } = plan;
  const place = [group, ...(lane === '-' ? [] : [lane]), step].join('/');
  return [`step ${place}${attempt > 1 ? `, attempt ${attempt}` : ''} of the plan's run `, { code: run }];
}

/** By the operator's clock, which may have been set in between. */
function duration({ run }: Report): string {
  if (run.endedAt === undefined) return 'not over';
  if (run.seconds === undefined) return 'unknown: the clock was set back';
  return formatSeconds(run.seconds);
}

function clock({ run }: Report): string {
  const moves = run.clockMovedSeconds.map(
    (seconds) =>
      `moved ${formatSeconds(Math.abs(seconds))} ` +
      `${seconds < 0 ? 'back' : 'ahead'} during the run (durations do not count it)`,
  );
  const own = [
    'that of the machine',
    ...(run.clockSetBack ? ['set back during the run'] : []),
    ...moves,
  ].join(', ');
  const ahead = run.serviceClockAheadSeconds;
  if (ahead === undefined) return `${own}; the clock of the service was not measured`;
  if (ahead === 0) return `${own}; the clock of the service agreed within a second`;
  return `${own}; the clock of the service was ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead' : 'behind'}`;
}

function recordSections(report: Report): Section[] {
  const { entries, ledger, signOff } = report;
  return [
    {
      title: 'Timeline (UTC)',
      isDetail: true,
      blocks: lines('Every entry of the journal of the run', entries),
    },
    ...detail('Written to the ledger of the instance', lines('What the run wrote to the ledger', ledger)),
    { title: 'Evidence', isDetail: true, blocks: evidenceBlocks(report) },
    {
      title: 'Sign-off',
      blocks: [
        ...tableOf(
          'To be filled in by people',
          ['Role', 'Name', 'Date', 'Statement', 'Signature'],
          signOff.map(({ role, statement }) => [role, BLANK, BLANK, statement, BLANK]),
        ),
        ...blanks(report, 'signOff'),
      ],
    },
  ];
}

function lines(caption: string, entries: readonly Line[]): Block[] {
  const rows = entries.map(({ at, seq, by, text }) => [time(at), String(seq), by, text]);
  return tableOf(caption, ['Time', 'No', 'Who', 'What'], rows);
}

function evidenceBlocks({ run, evidence }: Report): Block[] {
  const { head, anchor, signedHead, files, bundle, transcript, verify } = evidence;
  return [
    paragraph(headText(run.entries, head)),
    ...(anchor === undefined ? [] : [paragraph(['Anchor for the ticket: ', { code: anchor }])]),
    ...(files.length === 0
      ? [
          paragraph([
            'The files of the evidence, each with its SHA-256, are in the bundle: ',
            { code: bundle },
            '.',
          ]),
        ]
      : tableOf(
          'Files of the evidence',
          ['File', 'SHA-256'],
          files.map(({ name, sha256 }) => [name, { code: sha256 }]),
        )),
    paragraph(
      transcript === undefined
        ? 'No transcript of requests was kept.'
        : [
            `The transcript of requests has ${counted(transcript.lines, 'line')}, ` +
              `${transcript.bytes} bytes, SHA-256 `,
            { code: transcript.sha256 },
            '.',
          ],
    ),
    signedHead === undefined
      ? paragraph('The log has no signed head.')
      : { kind: 'lines', caption: 'Signed head of the log', lines: signedHead },
    paragraph([
      'To verify: ',
      { code: verify },
      '. The hash of an entry is that of its leaf in the Merkle tree over all entries (RFC 6962): ' +
        'the SHA-256 over a zero byte and its canonical JSON (RFC 8785, in ASCII) of ' +
        '{at, body, by, seq, stream, type}.',
    ]),
  ];
}

function headText(count: number, head: string | undefined): Text {
  if (head === undefined) return 'There are no entries.';
  return [`${counted(count, 'entry', 'entries')}, the last of them with the leaf hash `, { code: head }, '.'];
}

const MEANINGS: Readonly<Record<(typeof SLICES)[number], string>> = {
  decide: 'until the destructive call could be sent, with the questions and approvals before it',
  queue: 'the service had the request and had not begun',
  execute: 'the service was at work',
  human: 'after that, a question waited for an answer',
  rebind: 'until the last application ran on the restored data',
};

const STATUS = {
  over: 'until the recovery was over',
  running: 'until now; the recovery is not over',
  'given-up': 'until the run ended; the recovery was not over',
} as const;

function measuredSections(report: Report): Section[] {
  const { measured, course } = report;
  return [
    ...(measured === undefined
      ? []
      : [{ title: 'Objectives', blocks: [...objectiveBlocks(measured), ...blanks(report, 'objectives')] }]),
    ...(course === undefined ? [] : [{ title: 'Course of the run', blocks: courseBlocks(course) }]),
    ...detail('Tasks and moments', course === undefined ? [] : momentBlocks(course)),
  ];
}

function objectiveBlocks(measured: Measured): Block[] {
  const { rto, rpo, restores, notes, slices } = measured;
  const since = measured.since === 'incident' ? 'From the incident' : 'From the start of the run';
  return [
    ...tableOf(
      'Objectives against what was measured',
      ['Objective', 'Limit', 'Measured', 'Result'],
      [
        objectiveRow('Recovery time (RTO)', rto, ''),
        objectiveRow('Recovery point (RPO)', rpo, restores ? 'not measured' : 'nothing was restored'),
      ],
    ),
    paragraph(`${since}, ${time(measured.from)}, ${until(measured)}, ${time(measured.until)}. In slices:`),
    ...tableOf(
      'The recovery time in slices',
      ['Slice', 'Time', 'What it is'],
      SLICES.map((slice) => [slice, formatSeconds(slices[slice]), MEANINGS[slice]]),
    ),
    ...listOf(notes),
    ...(restores ? [paragraph(howLost(measured))] : []),
    paragraph('The limits are those of the configuration when the run began. It sets no cryptoperiod.'),
  ];
}

function objectiveRow(name: string, one: Measured['rto'], unmeasured: string): Text[] {
  const { limitSeconds, measuredSeconds } = one;
  return [name, seconds(limitSeconds, 'none set'), seconds(measuredSeconds, unmeasured), result(one)];
}

function howLost({ point, rpo }: Measured): string {
  if (point === undefined && rpo.why !== undefined) return `The recovery point was not measured: ${rpo.why}.`;
  if (point === undefined)
    return 'The recovery point was not measured: neither the data nor the service reported it.';
  const [recovered, lost] = [time(point.recoveredTo), `${time(point.lostAt)}, ${point.lostBy}`];
  const is =
    rpo.measuredSeconds === 0
      ? `zero: the newest restored data, of ${recovered}, is no older than ${lost}`
      : `the time from ${recovered}, the newest restored data, to ${lost}`;
  const by = {
    data: 'by the data itself, with the reconciliation command',
    restored_from: 'by what the service says it restored',
    'chosen-time': 'by the chosen point in time',
  }[point.by];
  const instead = point.because === undefined ? '' : ` It is not measured by the data: ${point.because}.`;
  return `The recovery point is ${is}; measured ${by}.${instead}`;
}

function result({ result: word, why }: Measured['rto']): Text {
  const because = why === undefined ? [] : [`: ${why}`];
  if (word === 'met') return [{ good: word }, ...because];
  return word === 'missed' || word === 'given up' ? [{ bad: word }, ...because] : [word, ...because];
}

/** A recovery that only a person claims is not called one. */
function until({ status, rto }: Measured): string {
  if (rto.why === undefined) return STATUS[status];
  return status === 'given-up'
    ? 'until the run gave up; the recovery was not over'
    : 'until all steps were done; nothing shows that it was a recovery';
}

function courseBlocks(course: Course): Block[] {
  const { steps, tasks, marks } = course;
  const caption =
    `From ${time(course.from)} to ${time(course.until)} UTC: ${counted(steps.length, 'step')}, ` +
    `${counted(tasks.length, 'task')} of the service, ${counted(marks.length, 'moment')}.`;
  return [
    { kind: 'picture', caption, course },
    ...tableOf(
      'Steps',
      ['Begun', 'Step', 'Took', 'Slice', 'Waited for'],
      steps.map(({ title, from, seconds: took, slice, waits }) => [
        time(from),
        title,
        formatSeconds(took),
        slice ?? '',
        waits ? 'a person' : '',
      ]),
    ),
  ];
}

function momentBlocks({ tasks, marks }: Course): Block[] {
  return [
    ...tableOf(
      'Tasks of the service, as it reported them',
      ['Task', 'Part', 'From', 'Until'],
      tasks.map(({ what, kind, from, until }) => [what, kind, time(from), time(until)]),
    ),
    ...tableOf(
      'Moments',
      ['No', 'Time', 'Kind', 'What'],
      marks.map(({ at, kind, text }, index) => [
        String(index + 1),
        time(at),
        kind === 'break-glass' || kind === 'trouble' ? { bad: kind } : kind,
        text,
      ]),
    ),
  ];
}
