import { counted, formatSeconds } from '../../base/format.ts';
import type { PlanReport } from './plan-report.ts';

/** The titles of the sections. */
export const SECTIONS = {
  asked: 'What was asked',
  objectives: 'Objectives',
  order: 'Order of recovery',
  instances: 'Instances',
  approvals: 'Approvals',
  checks: 'Checks of the data',
  deviations: 'Deviations',
  issues: 'Causes and lessons',
  undo: 'Return from temporary measures',
} as const;

type Known = Omit<PlanReport, 'requirements'>;
type Row = PlanReport['requirements'][number];

/**
 * The requirements of NIS2 (Implementing Regulation 2024/2690, annex) and DORA, each with its section. An
 * answer is missing where the journal does not know it. Pure.
 */
export function requirementsOf(report: Known): readonly Row[] {
  const { asked, measured, groups, approvals, deviations, reconciliations, undo, run } = report;
  const { purpose, activation, deactivation, contacts, scope } = asked;
  const rto = limitWords(measured.rto.limitSeconds, 'RTO');
  const rpo = limitWords(measured.rpo?.limitSeconds, 'RPO');
  const limits = [rto, rpo].filter((one) => one !== '').join(', ');
  const ofData = reconciliations.length;
  const isReal = run.kind === 'real';
  return [
    row('NIS2 annex 4.1.2', 'purpose', SECTIONS.asked, purpose),
    row(
      'NIS2 annex 4.1.2',
      'scope',
      SECTIONS.asked,
      scope.length === 0 ? undefined : counted(scope.length, 'instance'),
    ),
    row('NIS2 annex 4.1.2', 'roles and responsibilities', 'People', `${report.people.length} on record`),
    row(
      'NIS2 annex 4.1.2',
      'contacts and channels',
      SECTIONS.asked,
      contacts.length === 0 ? undefined : counted(contacts.length, 'contact'),
    ),
    row('NIS2 annex 4.1.2', 'conditions for activation', SECTIONS.asked, activation),
    row('NIS2 annex 4.1.2', 'conditions for deactivation', SECTIONS.undo, deactivation),
    row('NIS2 annex 4.1.2', 'order of recovery', SECTIONS.order, groups.map(({ id }) => id).join(', ')),
    row('NIS2 annex 4.1.2', 'recovery objectives', SECTIONS.objectives, limits === '' ? undefined : limits),
    row('NIS2 annex 4.1.2', 'required resources', SECTIONS.asked, undefined),
    row(
      'NIS2 annex 4.1.2',
      'return from temporary measures',
      SECTIONS.undo,
      undo.length === 0 ? undefined : `${counted(undo.length, 'step')} to take back`,
    ),
    row('NIS2 annex 4.1.4', 'lessons incorporated', SECTIONS.issues, undefined),
    row(
      'NIS2 annex 4.2.2(e)',
      'approval processes',
      SECTIONS.approvals,
      approvals.length === 0 ? 'none was asked for' : counted(approvals.length, 'request'),
    ),
    row(
      'NIS2 annex 4.2.3',
      'integrity checks',
      SECTIONS.checks,
      ofData === 0 ? undefined : counted(ofData, 'check'),
    ),
    row(
      'NIS2 annex 4.2.6',
      'test of recovery, documented',
      'Evidence',
      isReal ? 'a real run' : 'a rehearsal',
    ),
    row('DORA Art. 11(6)', 'the plan that was tested', SECTIONS.asked, `SHA-256 ${run.sha256}`),
    row('DORA Art. 11(6)', 'deviations from it', SECTIONS.deviations, `${deviations.length} on record`),
    row('DORA Art. 12(3)', 'segregated targets', SECTIONS.asked, undefined),
    row(
      'DORA Art. 12(6)',
      'recovery time and point',
      SECTIONS.objectives,
      [
        `RTO ${measured.rto.result}`,
        ...(measured.rpo === undefined ? [] : [`RPO ${measured.rpo.result}`]),
      ].join(', '),
    ),
    row(
      'DORA Art. 12(7)',
      'reconciliation',
      SECTIONS.checks,
      ofData === 0 ? undefined : counted(ofData, 'check'),
    ),
  ];
}

function row(rule: string, asks: string, section: string, answer: string | undefined): Row {
  return { rule, asks, section, ...(answer === undefined ? {} : { answer }) };
}

function limitWords(seconds: number | undefined, label: string): string {
  return seconds === undefined ? '' : `${label} ${formatSeconds(seconds)}`;
}
