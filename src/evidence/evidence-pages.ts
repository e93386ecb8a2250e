import { counted } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { planOf } from '../base/plan-subject.ts';
import { printableJson } from '../base/text.ts';
import type { Brand } from '../report/brand.ts';
import { objectiveText } from '../report/estate.ts';
import {
  type Block,
  type Document,
  type Figure,
  listOr,
  paragraph,
  type Section,
  type Text,
  tableOr,
  time,
} from '../report/render/document.ts';
import { htmlDocument } from '../report/render/html-document.ts';
import type { Evidence, EvidenceRun, EvidenceSubject, Gap } from './evidence-schema.ts';
import { daysOf } from './period.ts';

/** The index of a pack for people, one HTML file; `brand` heads it. */
export function evidenceHtml(evidence: Evidence, brand: Brand): string {
  return htmlDocument(evidencePages(evidence), brand);
}

/** The index of a pack for programs: exactly the index, on one line. */
export function evidenceJson(evidence: Evidence): string {
  return `${printableJson(evidence)}\n`;
}

function evidencePages(evidence: Evidence): Document {
  const { period, generatedAt, madeBy, schema, scope } = evidence;
  const { first, last } = daysOf({ from: msOf(period.from), until: msOf(period.to) });
  return {
    title: `Evidence from ${first} to ${last}`,
    mark: scope === undefined ? 'everything on record' : scopeWords(scope),
    lead: [
      ...alarms(evidence),
      { kind: 'figures', figures: figures(evidence) },
      paragraph(
        `Both days belong to the period; all times are UTC. ${knownWords(evidence)} ` +
          'What is missing is measured against the periods of lifeboat.yaml as they are now.',
      ),
    ],
    sections: [
      missingSection(evidence),
      subjectSection(evidence),
      ...runSections(evidence),
      findingSection(evidence),
      evaluationSection(evidence),
      recordSection(evidence),
    ],
    foot: `Written ${time(generatedAt)} UTC by ${madeBy} from the journal (${schema}). README.txt says how to check it.`,
  };
}

function scopeWords({ instances, plans }: NonNullable<Evidence['scope']>): string {
  return [...instances, ...plans.map((plan) => `plan ${plan}`)].join(', ');
}

function knownWords({ period: { to, knownUntil } }: Evidence): string {
  return knownUntil < to
    ? `The period is not over: nothing after ${time(knownUntil)} is in this pack.`
    : `Runs and findings are shown as they stood when the pack was made.`;
}

function alarms({ record, drills }: Evidence): Block[] {
  const broken = drills.filter(({ verdict }) => verdict === 'not-intact').map(({ id }) => id);
  const alarm = (title: string, text: Text): Block => ({ kind: 'alarm', title, text });
  return [
    ...(record.verdict === 'not-intact'
      ? [
          alarm(
            'THE RECORD IS NOT INTACT: nothing in this pack is proven',
            [...record.problems.slice(0, 5), 'nothing of it is signed'].join('; '),
          ),
        ]
      : []),
    ...(broken.length > 0
      ? [alarm('THE RECORD OF A DRILL IS NOT INTACT', `${broken.join(', ')}: nothing of it is signed`)]
      : []),
  ];
}

function figures({ missing, runs, findings, subjects, drills, period }: Evidence): Figure[] {
  const gaps = missing.filter(isUncovered);
  const open = runs.filter(({ status }) => status === 'open').length;
  const unproven = runs.filter(({ status, result }) => status !== 'open' && !isGood(result)).length;
  // An empty target holds no data that could be lost.
  const data = subjects.filter(({ evaluated }) => evaluated?.verdict !== 'empty');
  const ready = data.filter(({ evaluated }) => isReady(evaluated)).length;
  const left = findings.filter(({ closedAt }) => closedAt === undefined);
  const late = left.filter(({ due }) => msOf(due) < msOf(period.knownUntil)).length;
  // Without an evaluation nothing is good.
  const isLooked = subjects.some(({ evaluated }) => evaluated !== undefined);
  return [
    {
      label: 'Missing',
      value: String(gaps.length),
      note: `${missing.length - gaps.length} more covered by a waiver`,
      tone: gaps.length > 0 ? 'bad' : subjects.length === 0 ? 'plain' : 'good',
    },
    {
      label: 'Recoverable at the end',
      value: `${ready} of ${data.length}`,
      note: 'evaluated as proven or ready, on record',
      tone: ready < data.length ? 'bad' : data.length === 0 ? 'plain' : 'good',
    },
    {
      label: 'Runs and drills',
      value: String(runs.length + drills.length),
      note: `${unproven} ended without proof, ${open} open`,
      tone: unproven + open === 0 ? 'plain' : 'bad',
    },
    {
      label: 'Findings open',
      value: String(left.length),
      note: late === 0 ? 'none overdue' : `${late} overdue`,
      tone: left.length > 0 ? 'bad' : isLooked ? 'good' : 'plain',
    },
  ];
}

const KINDS: Readonly<Record<Gap['what'], string>> = {
  record: 'any record',
  drill: 'a proven drill',
  rehearsal: 'a restore or rehearsal',
  'plan-run': 'a proven run of the plan',
  evaluation: 'an evaluation',
  rotation: 'a key within its cryptoperiod',
  'backup-proof': 'a backup read to its end',
  'escrow-proof': 'holders who can open a copy',
};

function missingSection({ missing }: Evidence): Section {
  const head = ['Missing', 'Of', 'From', 'To', 'Asked for', 'Who', 'Waiver'];
  const rows = missing.map((gap): Text[] => [
    isUncovered(gap) ? { bad: KINDS[gap.what] } : KINDS[gap.what],
    nameOf(gap.subject),
    time(gap.from),
    gap.isOpen ? [time(gap.to), ', still so'] : time(gap.to),
    gap.isCertain ? gap.asked : `${gap.asked}; one that found nothing new leaves an entry once a week`,
    gap.who ?? 'nobody is named',
    waiverText(gap),
  ]);
  return {
    title: 'What is missing',
    blocks: [
      tableOr('Nothing: all that the config asks for is on record.', 'Each gap, oldest first', head, rows),
    ],
  };
}

function waiverText({ waiver }: Gap): Text {
  if (waiver === undefined) return 'none';
  const end = `until ${time(waiver.until)}: ${waiver.reason}`;
  return waiver.covers === 'all' ? end : [{ bad: 'only in part' }, `, ${end}`];
}

function subjectSection({ subjects }: Evidence): Section {
  const head = ['Instance or plan', 'Verdict', 'Evaluated', 'Proven backup', 'Key', 'Runs', 'Missing'];
  const rows = subjects.map((one): Text[] => [
    one.isConfigured ? nameOf(one.subject) : `${nameOf(one.subject)} (not in the config)`,
    verdictText(one),
    time(one.evaluated?.at),
    one.proven === undefined ? 'none' : `${one.proven.backup}, ${time(one.proven.at)}`,
    keyText(one),
    String(one.runs),
    one.gaps === 0 ? 'nothing' : { bad: String(one.gaps) },
  ]);
  return {
    title: 'Each instance and plan at the end of the period',
    blocks: [tableOr('There are none.', 'By the record', head, rows)],
  };
}

const VERDICTS: Readonly<Record<NonNullable<EvidenceSubject['evaluated']>['verdict'], string>> = {
  proven: 'PROVEN',
  ready: 'READY',
  'not-ready': 'NOT READY',
  unknown: 'UNKNOWN',
  empty: 'empty',
};

function isReady(evaluated: EvidenceSubject['evaluated']): boolean {
  return evaluated !== undefined && ['proven', 'ready'].includes(evaluated.verdict);
}

function verdictText({ evaluated }: Pick<EvidenceSubject, 'evaluated'>): Text {
  if (evaluated === undefined) return { bad: 'never evaluated' };
  const word = VERDICTS[evaluated.verdict];
  const shown = isReady(evaluated) ? { good: word } : evaluated.verdict === 'empty' ? word : { bad: word };
  return [shown, `: ${evaluated.reason}`];
}

function keyText({ key }: EvidenceSubject): Text {
  if (key === undefined) return '-';
  const due = key.dueAt === undefined ? '' : `, due ${time(key.dueAt)}`;
  return [
    { code: key.fingerprint },
    key.since === undefined ? ', since unknown' : ` since ${time(key.since)}${due}`,
  ];
}

const GROUPS: readonly (readonly [EvidenceRun['kind'], string])[] = [
  ['rehearsal', 'Rehearsals'],
  ['rotation', 'Key rotations'],
  ['recovery', 'Recoveries'],
  ['plan', 'Runs of plans'],
  ['other', 'Other changes and runs'],
];

function runSections({ runs, drills }: Evidence): Section[] {
  const drillRows = drills.map(
    ({ id, scope, begunAt, endedAt, outcome, chapters, proven, report }): Text[] => [
      { code: id, file: report },
      scope,
      time(begunAt),
      time(endedAt),
      outcome === 'proven' ? { good: outcome } : { bad: outcome },
      `${proven} of ${chapters}`,
    ],
  );
  const drillHead = ['Drill', 'Scope', 'Begun', 'Ended', 'Outcome', 'Proven'];
  return [
    {
      title: 'Drills',
      blocks: [tableOr('None in the period.', 'Each drill, oldest first', drillHead, drillRows)],
    },
    ...GROUPS.map(([kind, title]): Section => {
      const rows = runs.filter((run) => run.kind === kind).map(runRow);
      const head = ['Run', 'Runbook', 'On', 'Started', 'Ended', 'By', 'Result', 'RTO', 'RPO', 'Evidence'];
      return { title, blocks: [tableOr('None in the period.', title, head, rows)] };
    }),
  ];
}

function runRow(run: EvidenceRun): Text[] {
  const { runId, runbook, instance, target, startedAt, endedAt, by, mode, rto, rpo, report, journal, drill } =
    run;
  const more = run.deviations === 0 ? '' : `, ${counted(run.deviations, 'deviation')}`;
  return [
    { code: runId, file: report },
    mode === 'LIVE' ? runbook : `${runbook} (${mode})`,
    [
      target === undefined ? nameOf(instance) : `${instance} -> ${target}`,
      drill === undefined ? '' : ` in the lab of drill ${drill}`,
    ],
    time(startedAt),
    endedAt === undefined ? { bad: 'open' } : time(endedAt),
    by ?? 'unknown',
    [resultText(run), more],
    objectiveText(rto),
    objectiveText(rpo),
    [
      ...(journal === undefined ? [{ bad: 'not signed' }] : [{ code: 'journal', file: journal }]),
      ...(run.receipts.length === 0
        ? [', no receipt on record']
        : run.receipts.map(({ result }) => `, receipt ${result}`)),
      ...(run.receipt === undefined
        ? []
        : [', ', { code: 'receipt', file: `${run.receipt}/receipt.sigstore.json` }]),
    ],
  ];
}

function isGood(result: EvidenceRun['result']): boolean {
  return result === 'proven' || result === 'done';
}

function resultText({ status, result }: EvidenceRun) {
  const word = result ?? status;
  return isGood(result) ? { good: word } : { bad: word };
}

function findingSection({ findings, waivers, period }: Evidence): Section {
  const head = ['Found', 'Of', 'Why', 'Owner', 'First seen', 'Due', 'Closed', 'Waived until'];
  const rows = findings.map((one): Text[] => [
    one.state === 'red' ? { bad: one.check } : `${one.check} (unknown)`,
    nameOf(one.subject),
    one.reason,
    one.owner ?? 'nobody is named',
    time(one.firstSeen),
    time(one.due),
    one.closedAt === undefined ? { bad: 'open' } : time(one.closedAt),
    time(one.waivedUntil),
  ]);
  const waived = waivers.map(({ instance, check, reason, until, owner }): Text[] => [
    instance,
    check,
    reason,
    msOf(until) <= msOf(period.knownUntil) ? [time(until), ', over'] : time(until),
    owner ?? 'nobody is named',
  ]);
  return {
    title: 'Findings and waivers',
    blocks: [
      tableOr('No finding was open in the period.', 'Findings that were open in the period', head, rows),
      tableOr(
        'The config has no waivers.',
        'Waivers of the config as it is now',
        ['Instance', 'Check', 'Reason', 'Until', 'Owner'],
        waived,
      ),
    ],
  };
}

function evaluationSection({ evaluations }: Evidence): Section {
  const rows = evaluations.map((one): Text[] => [
    time(one.at),
    nameOf(one.subject),
    verdictText({ evaluated: one }),
    one.findings.length === 0 ? 'none' : one.findings.join(', '),
  ]);
  return {
    title: 'Evaluations',
    blocks: [
      paragraph('An evaluation is recorded when its verdict or its findings change, and else once a week.'),
      tableOr(
        'None is on record.',
        'Evaluations recorded in the period',
        ['Time', 'Of', 'Verdict', 'Findings'],
        rows,
      ),
    ],
  };
}

function recordSection({ record, limits }: Evidence): Section {
  const { words, entries, anchor, begunAt, problems } = record;
  return {
    title: 'The record, and what this pack cannot show',
    blocks: [
      {
        kind: 'facts',
        caption: 'The journal when the pack was made',
        rows: [
          ['Verdict', record.verdict === 'not-intact' ? { bad: words } : words],
          ['Entries', String(entries)],
          ['First entry', begunAt === undefined ? 'none' : time(begunAt)],
          ...(anchor === undefined ? [] : [['Anchor', { code: anchor }] as [string, Text]]),
        ],
      },
      ...(problems.length === 0 ? [] : [{ kind: 'list' as const, items: problems }]),
      listOr('Nothing is left out.', limits),
    ],
  };
}

function isUncovered({ waiver }: Gap): boolean {
  return waiver?.covers !== 'all';
}

/** A plan holds its ledger under a name that no instance can have. */
function nameOf(subject: string): string {
  if (subject === '') return 'this installation';
  const plan = planOf(subject);
  return plan === undefined ? subject : `plan ${plan}`;
}
