import type { Report } from '../model/model.ts';
import type { Rotation } from '../model/model-rows.ts';
import {
  type Block,
  blanks,
  detail,
  factRows,
  factsBlock,
  listOf,
  optional,
  paragraph,
  type Section,
  type Text,
  tableOf,
  tableOr,
  time,
} from './document.ts';

export function provenSections(report: Report): Section[] {
  const { outcome, facts, recoveryPoint, source, changed, checks, reconciliation } = report;
  return [
    {
      title: outcome.simulated === true ? 'Facts of a simulated run' : 'Facts proven',
      isDetail: true,
      blocks: factBlocks(facts),
    },
    {
      title: 'Participants and scope',
      isDetail: true,
      blocks: [
        tableOr(
          'The journal names nobody.',
          'Participants',
          ['Who', 'Roles', 'Proof of identity'],
          report.people.map(({ name, roles, proof }) => [name, roles.join(', '), proof]),
        ),
        ...blanks(report, 'people'),
        ...blanks(report, 'scope'),
      ],
    },
    {
      title: 'Plan',
      isDetail: true,
      blocks: [
        paragraph(planText(report)),
        ...listOf(report.plan.asked.map(askedPlan)),
        ...blanks(report, 'plan'),
      ],
    },
    ...detail('Recovery point', factsBlock('What was brought back', recoveryPoint)),
    ...detail('Where the data came from', factsBlock('The source', source)),
    ...detail('Identity of what was changed', [
      ...factsBlock('The instance that was changed, as it was last checked', changed),
      ...blanks(report, 'instances'),
    ]),
    ...optional('Rows compared', comparisonBlocks(report.comparison)),
    ...detail('Reconciliation', reconciliationBlocks(reconciliation)),
    { title: 'Integrity checks', isDetail: true, blocks: [checkTable(checks), ...blanks(report, 'checks')] },
  ];
}

function factBlocks(facts: Report['facts']): Block[] {
  if (facts === undefined) return [paragraph('None yet: a run lists what it proved when it is closed.')];
  const rows = facts.map(({ label, value }) => [label, value]);
  return [tableOr('None.', 'Facts proven', ['Fact', 'Value'], rows)];
}

function planText({ run, plan }: Report): string {
  if (run.runbook === undefined) return 'The runbook of this run is not known.';
  const shipped =
    `The runbook ${run.runbook}, version ${run.version}, ` +
    `as ${run.tool?.name ?? 'the tool'} ${run.tool?.version ?? ''} ships it.`;
  return plan.asked.length === 0
    ? `${shipped} No approval was asked for, so no plan is signed. The evidence bundle has the plan in plan.txt.`
    : shipped;
}

/** Only a signature approves a plan. */
function askedPlan({ sha256, state }: Report['plan']['asked'][number]): Text {
  const hash = [', SHA-256 ', { code: sha256 }] as const;
  if (state === 'given') return ['approved plan', ...hash];
  const outcome = state === 'asked' ? 'not answered' : state;
  return ['plan submitted for approval, ', { bad: 'not approved' }, ` (${outcome})`, ...hash];
}

function checkTable(checks: Report['checks']): Block {
  return tableOr(
    'This run made none.',
    'Checks of backups, keys and tasks',
    ['Time', 'What', 'Verdict', 'Details'],
    checks.map(({ at, what, verdict, good, details }) => [
      time(at),
      what,
      good ? { good: verdict } : { bad: verdict },
      details.flatMap(({ label, value, code }, index) => [
        `${index === 0 ? '' : ', '}${label} `,
        code === true ? { code: value } : value,
      ]),
    ]),
  );
}

function reconciliationBlocks(rows: Report['reconciliation']): Block[] {
  return tableOf(
    'What the data itself said',
    ['When', 'Asked', 'Newest record', 'Rows', 'Output'],
    rows.map(({ when, at, newest, count, said }) => [
      when,
      time(at),
      newest,
      count,
      said === '' || said.startsWith('failed: ') ? said : { code: said },
    ]),
  );
}

function comparisonBlocks(comparison: Report['comparison']): Block[] {
  if (comparison === undefined) return [];
  const { at, tables, checks, proven } = comparison;
  return [
    paragraph([
      `After the run, at ${time(at)}, the drill compared the databases themselves: `,
      proven ? { good: 'all as expected' } : { bad: 'NOT as expected' },
      '.',
    ]),
    ...tableOf(
      'Every row of the restored database, compared with the expected rows',
      ['Table', 'Rows', 'Compared', 'MD5 of all rows', 'Expected rows', 'Expected MD5'],
      tables.map(({ name, rows, md5, expected, equal }) => [
        name,
        String(rows),
        equal ? { good: 'equal' } : { bad: 'DIFFERENT' },
        { code: md5 },
        String(expected.rows),
        { code: expected.md5 },
      ]),
    ),
    {
      kind: 'list',
      items: checks.map(({ what, holds }) => [`${what}: `, holds ? { good: 'yes' } : { bad: 'NO' }]),
    },
  ];
}

const GROUPS: readonly (readonly [keyof Rotation, string])[] = [
  ['oldKey', 'Old key'],
  ['newKey', 'New key'],
  ['storage', 'Storage'],
  ['dualControl', 'Dual control'],
  ['call', 'The call that changed it'],
  ['proof', 'Proof after the change'],
  ['olderBackups', 'Older backups'],
  ['disposition', 'What becomes of the old key'],
  ['substitution', 'Check for an unauthorized substitution'],
];

export function custodySections({ custody }: Report): Section[] {
  if (custody.length === 0) return [];
  return [
    {
      title: 'Key custody',
      blocks: [
        paragraph(
          'Sealed copies of the keys at the end of the run, and who has shown that they can open one. ' +
            'A person who was left out of a later copy can still open an earlier one.',
        ),
        {
          kind: 'table',
          caption: 'Sealed copies and holders',
          head: ['Fact', 'Value'],
          rows: factRows(custody),
        },
      ],
    },
  ];
}

/** For an auditor of key management. */
export function rotationSections(report: Report): Section[] {
  const { rotation } = report;
  if (rotation === undefined) return [];
  const rows = GROUPS.flatMap(([group, title]) => {
    const facts = factRows(rotation[group]);
    const stated = facts.length === 0 ? [['not stated', ''] as const] : facts;
    return stated.map(([label, value], index) => [index === 0 ? title : '', label, value]);
  });
  return [
    {
      title: 'Key rotation',
      blocks: [
        paragraph(
          'Keys are named by fingerprint, a keyed hash (HMAC-SHA-256, 12 hex digits) made with a secret of this key store: ' +
            'compare fingerprints within this key store only. ' +
            'A key itself is in no record.',
        ),
        { kind: 'table', caption: 'The change of the key', head: ['Group', 'Fact', 'Value'], rows },
        ...blanks(report, 'rotation'),
      ],
    },
  ];
}
