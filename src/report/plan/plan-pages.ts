import { counted, formatSeconds } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import {
  BLANK,
  type Block,
  type Document,
  given,
  type Inline,
  listOr,
  paragraph,
  rowsFor,
  type Section,
  seconds,
  type Text,
  tableOf,
  tableOr,
  time,
} from '../render/document.ts';
import { receiptBlocks } from '../render/receipt-block.ts';
import { ganttOf } from './plan-gantt.ts';
import type { PlanGroup, PlanLane, PlanReport, PlanStepRow } from './plan-report.ts';
import { NOT_SAID, type Objective, planSummary, verdict } from './plan-summary.ts';
import { SECTIONS } from './requirements.ts';

/** The file with the report of a child, beside this report; undefined without one. */
export type FileOf = (run: string) => string | undefined;

export function planPages(report: PlanReport, fileOf: FileOf = () => undefined): Document {
  const { run } = report;
  const refer = (id: string): Inline => ({ code: id, file: fileOf(id) });
  return {
    title: report.title,
    mark: `${run.kind === 'real' ? 'LIVE' : 'REHEARSAL'}, run ${run.id}`,
    lead: planSummary(report),
    sections: [
      askedSection(report),
      { title: SECTIONS.objectives, blocks: objectiveBlocks(report) },
      { title: SECTIONS.order, blocks: orderBlocks(report, refer) },
      { title: SECTIONS.instances, blocks: instanceBlocks(report, refer) },
      { title: SECTIONS.deviations, blocks: deviationBlocks(report) },
      { title: 'Still open', blocks: [listOr('Nothing.', report.open), ...followUpBlocks(report, refer)] },
      { title: SECTIONS.undo, blocks: undoBlocks(report) },
      { title: SECTIONS.approvals, blocks: approvalBlocks(report, refer) },
      { title: SECTIONS.checks, blocks: checkBlocks(report, refer) },
      { title: 'People', blocks: peopleBlocks(report) },
      { title: SECTIONS.issues, blocks: blanks(report, 'issues') },
      { title: 'What rules ask for', blocks: requirementBlocks(report) },
      { title: 'Sign-off', blocks: signOffBlocks(report) },
    ],
    appendix: [
      { title: 'Timeline (UTC)', isDetail: true, blocks: timelineBlocks(report) },
      { title: 'Evidence', isDetail: true, blocks: evidenceBlocks(report) },
    ],
    foot:
      `Written ${time(report.generatedAt)} UTC from the journals of the run and of its children ` +
      `(${report.schema}). All times are UTC.`,
    footBlocks: receiptBlocks(report.run.id, report.outcome),
  };
}

function askedSection(report: PlanReport): Section {
  const { asked, run } = report;
  return {
    title: SECTIONS.asked,
    blocks: [
      {
        kind: 'facts',
        caption: 'What the plan says',
        rows: [
          ['Plan', run.plan],
          ['SHA-256 of its text', { code: run.sha256 }],
          ['Purpose', asked.purpose ?? NOT_SAID],
          ['Activation', asked.activation ?? NOT_SAID],
          ['Deactivation', asked.deactivation ?? NOT_SAID],
          [
            'Scope',
            asked.scope.map(({ instance, target }) => into(instance, target)).join(', ') || 'no instances',
          ],
          ['Sources', run.source === 'up' ? 'counted as reachable' : 'counted as lost'],
          ...given('Incident', run.incidentAt),
          ['Tool', `${run.tool.name} ${run.tool.version}, Node ${run.tool.node}`],
        ],
      },
      tableOr(
        'The plan names no contacts.',
        'Contacts',
        ['Name', 'Role', 'Reached by'],
        asked.contacts.map(({ name, role, reach }) => [name, role ?? BLANK, reach ?? BLANK]),
      ),
      ...blanks(report, 'asked'),
    ],
  };
}

function into(instance: string, target: string | undefined): string {
  return target === undefined ? instance : `${instance} -> ${target}`;
}

function objectiveBlocks(report: PlanReport): Block[] {
  const { measured, groups } = report;
  const rows = groups.flatMap((group): Text[][] =>
    group.rto === undefined ? [] : [[group.id, ...objectiveCells(group.rto), ...objectiveCells(group.rpo)]],
  );
  const since =
    measured.since === 'incident'
      ? 'the incident'
      : 'the start of the run, because nobody said when the incident began';
  return [
    ...tableOf(
      'Objectives against what was measured',
      ['', 'RTO', 'Result', 'RPO', 'Result'],
      [['the whole plan', ...objectiveCells(measured.rto), ...objectiveCells(measured.rpo)], ...rows],
    ),
    paragraph(
      `Recovery times count from ${since}, ${time(measured.from)}; that of the plan ${UNTIL[measured.status]}, ` +
        `${time(measured.until)}, that of a group to its end. ` +
        'A recovery point is the worst of the instances, as their own reports measure it.',
    ),
    ...(report.run.clockMoved
      ? [
          paragraph(
            'The clock of this machine was moved during the run: its times are as good as that clock.',
          ),
        ]
      : []),
    ...blanks(report, 'objectives'),
  ];
}

const UNTIL = {
  running: 'until now, since it is not over',
  over: 'to the last green of its checks of health',
  'given-up': 'to where it ended without proof that it was over',
} as const;

function objectiveCells(one: Objective | undefined): [Text, Text] {
  if (one === undefined) return ['nothing was restored', ''];
  const limit = one.limitSeconds === undefined ? '' : ` of ${formatSeconds(one.limitSeconds)}`;
  return [`${seconds(one.measuredSeconds, 'not measured')}${limit}`, verdict(one)];
}

type Refer = (run: string) => Inline;

function orderBlocks(report: PlanReport, refer: Refer): Block[] {
  const { groups } = report;
  const begun = groups
    .flatMap((group) => group.lanes.flatMap((lane) => lane.steps.map((step) => ({ group, lane, step }))))
    .flatMap(({ group, lane, step }) => step.runs.map((one) => ({ group, lane, step, one })))
    .toSorted((a, b) => a.one.startedAt.localeCompare(b.one.startedAt));
  const row = ({ group, lane, step, one }: (typeof begun)[number], at: number): Text[] => [
    String(at + 1),
    time(one.startedAt),
    one.endedAt === undefined ? 'not over' : time(one.endedAt),
    group.id,
    laneName(lane),
    step.what,
    one.result === 'done' ? { good: one.result } : { bad: one.result },
    refer(one.run),
  ];
  return [
    ...ganttOf(report),
    ...tableOf(
      'Groups and waves',
      ['Group', 'Wave', 'Begun', 'Ended', 'Took', 'Instances', 'What came of it'],
      groups.flatMap(groupRows),
    ),
    tableOr(
      'Nothing was begun.',
      'Every step in the order in which it began',
      ['No', 'Begun', 'Ended', 'Group', 'Instance', 'Step', 'Result', 'Run'],
      rowsFor(begun, row),
    ),
  ];
}

const ENDS = { done: 'done', stopped: 'stopped', 'not-run': 'not run' } as const;

function groupRows(group: PlanGroup): Text[][] {
  const { id, startedAt, endedAt, ended, lanes, waves, held } = group;
  const state: Text =
    ended === undefined
      ? startedAt === undefined
        ? 'not begun'
        : { bad: 'not over' }
      : ended === 'done'
        ? { good: ENDS[ended] }
        : { bad: ENDS[ended] };
  const took = group.seconds === undefined ? '' : formatSeconds(group.seconds);
  const count = lanes.filter(({ name }) => name !== '-').length;
  return [
    [{ strong: id }, '', time(startedAt), time(endedAt), took, count === 0 ? '' : String(count), state],
    ...waves.map(({ wave, from, until, lanes: names }): Text[] => [
      id,
      String(wave),
      time(from),
      time(until),
      formatSeconds(between(from, until)),
      names.filter((name) => name !== '-').join(', '),
      counts(lanes.filter((lane) => lane.wave === wave)),
    ]),
    ...held.map(({ from, until, why }): Text[] => [
      id,
      '',
      time(from),
      time(until),
      formatSeconds(between(from, until)),
      '',
      `waited for a person: ${why}`,
    ]),
  ];
}

function between(from: string, until: string): number {
  return Math.max(0, msOf(until) - msOf(from)) / 1000;
}

function counts(lanes: readonly PlanLane[]): string {
  const states = [...Map.groupBy(lanes, ({ state }) => state)];
  return states.map(([state, some]) => `${some.length} ${state}`).join(', ');
}

function laneName({ name, target }: Pick<PlanLane, 'name' | 'target'>): string {
  return name === '-' ? '' : into(name, target);
}

function instanceBlocks({ groups }: PlanReport, refer: Refer): Block[] {
  const all = groups.flatMap(({ id, lanes }) => lanes.map((lane) => ({ id, lane })));
  const row = ({ id, lane }: (typeof all)[number]): Text[] => [
    laneName(lane) || 'once',
    id,
    String(lane.wave),
    lane.state === 'done' ? { good: lane.state } : { bad: lane.state },
    lane.steps.flatMap((step, at) => [...(at === 0 ? [] : ['; ']), ...stepText(step, refer)]),
    lane.rpo === undefined
      ? ''
      : [seconds(lane.rpo.measuredSeconds, 'not measured'), ': ', verdict(lane.rpo)],
  ];
  return [
    tableOr(
      'There are none.',
      'Each instance with its runs',
      ['Instance', 'Group', 'Wave', 'Result', 'Steps and their runs', 'RPO'],
      rowsFor(all, row),
    ),
    paragraph(['Each run has a report of its own: ', { code: 'lifeboat report RUN' }, '.']),
  ];
}

function stepText({ id, state, runs }: PlanStepRow, refer: Refer): Inline[] {
  const cause = state === 'failed' ? runs.at(-1)?.cause : undefined;
  const why = cause === undefined ? '' : ` (${cause})`;
  return [`${id}: ${state}${why}`, ...runs.flatMap(({ run }): Inline[] => [' ', refer(run)])];
}

function deviationBlocks({ deviations }: PlanReport): Block[] {
  const rows = rowsFor(deviations, ({ at, by, kind, what, reason }): Text[] => [
    time(at),
    by,
    kind,
    what,
    reason === '' ? 'no reason was given' : reason,
  ]);
  return [
    tableOr(
      'None: it was done as the plan says.',
      'Deviations from the plan',
      ['Time', 'Who', 'What', 'Where', 'Reason'],
      rows,
    ),
  ];
}

function followUpBlocks({ followUps }: PlanReport, refer: Refer): Block[] {
  const rows = rowsFor(followUps, ({ run, what, owner, closed }): Text[] => [
    what,
    owner,
    closed ?? { bad: 'open' },
    refer(run),
  ]);
  return tableOf('What the recoveries left to be done', ['Follow-up', 'Owner', 'State', 'Run'], rows);
}

function undoBlocks(report: PlanReport): Block[] {
  const rows = report.undo.map(({ group, step, what, undo }): Text[] => [
    `${group}/${step}`,
    what,
    undo ?? BLANK,
  ]);
  return [
    {
      kind: 'facts',
      caption: 'Normal operation',
      rows: [['Deactivation', report.asked.deactivation ?? NOT_SAID]],
    },
    tableOr(
      'Nothing was begun that is taken back.',
      'How each step is taken back',
      ['Step', 'What it did', 'Taken back by'],
      rows,
    ),
    ...blanks(report, 'return'),
  ];
}

function approvalBlocks({ approvals }: PlanReport, refer: Refer): Block[] {
  const rows = rowsFor(approvals, ({ order, state, approver, at, reason, run }): Text[] => [
    time(at),
    order,
    state === 'given' ? { good: state } : { bad: state },
    approver ?? '',
    reason ?? '',
    refer(run),
  ]);
  return [
    tableOr('None was asked for.', 'Approvals', ['Time', 'Order', 'State', 'By', 'Reason', 'Run'], rows),
  ];
}

function checkBlocks({ reconciliations }: PlanReport, refer: Refer): Block[] {
  const rows = rowsFor(reconciliations, ({ at, what, good, run }): Text[] => [
    time(at),
    what,
    good === undefined ? 'for comparison' : good ? { good: 'yes' } : { bad: 'NO' },
    refer(run),
  ]);
  return [
    tableOr('None is on record.', 'Checks and reconciliations', ['Time', 'What', 'As expected', 'Run'], rows),
  ];
}

function peopleBlocks(report: PlanReport): Block[] {
  const rows = report.people.map(({ name, roles, proof }): Text[] => [name, roles.join(', '), proof]);
  const decided = report.decisions.map(({ at, by, what, reason }): Text[] => [time(at), by, what, reason]);
  return [
    tableOr('Nobody is named.', 'People', ['Name', 'Role', 'Shown by'], rows),
    ...tableOf('Decisions', ['Time', 'Who', 'Decision', 'Reason'], decided),
    ...blanks(report, 'people'),
  ];
}

function requirementBlocks({ requirements }: PlanReport): Block[] {
  const rows = requirements.map(({ rule, asks, section, answer }): Text[] => [
    rule,
    asks,
    section,
    answer ?? BLANK,
  ]);
  return [
    tableOr(
      '',
      'Where this record has what rules ask for',
      ['Rule', 'What it asks', 'Section', 'On record'],
      rows,
    ),
    paragraph('What is left open is not on record: people write it in. This table is no legal assessment.'),
  ];
}

function signOffBlocks(report: PlanReport): Block[] {
  const rows = report.signOff.map(({ role, statement }): Text[] => [role, BLANK, BLANK, statement, BLANK]);
  return [
    ...tableOf('To be filled in by people', ['Role', 'Name', 'Date', 'Statement', 'Signature'], rows),
    ...blanks(report, 'signOff'),
  ];
}

function timelineBlocks({ entries }: PlanReport): Block[] {
  const rows = rowsFor(entries, ({ at, seq, by, text }): Text[] => [time(at), String(seq), by, text]);
  return tableOf("Every entry of the journal of the plan's run", ['Time', 'No', 'Who', 'What'], rows);
}

function evidenceBlocks({ evidence, run }: PlanReport): Block[] {
  const { head, signedHead, bundle, verify } = evidence;
  return [
    ...(head === undefined
      ? []
      : [
          paragraph([
            `${counted(run.entries, 'entry', 'entries')}, the last with the leaf hash `,
            { code: head },
            '.',
          ]),
        ]),
    paragraph([
      'The journals of the run and of everything that it started are in one bundle: ',
      { code: bundle },
      '.',
    ]),
    ...(signedHead === undefined
      ? []
      : [{ kind: 'lines' as const, caption: 'Signed head of the log', lines: signedHead }]),
    paragraph(['To verify: ', { code: verify }, '.']),
  ];
}

function blanks({ blanks: all }: PlanReport, part: PlanReport['blanks'][number]['in']): Block[] {
  const labels = all.filter((one) => one.in === part).map(({ label }) => label);
  return labels.length === 0 ? [] : [{ kind: 'blanks', labels }];
}
