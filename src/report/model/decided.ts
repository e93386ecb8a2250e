import { formatTime, formatValue } from '../../base/format.ts';
import type { Entry } from '../../store/journal.ts';
import type { WrittenFollowUp } from '../../store/run-entries.ts';
import { marksOf } from './course.ts';
import type { Report } from './model.ts';
import { type Decision, type Deviation, type Fact, find, findAll, type Issue } from './model-rows.ts';

/** The run's own summary at its end; undefined before. */
export function factsOf(entries: readonly Entry[]): Fact[] | undefined {
  return find(entries, 'run.closed')?.body.summary.map(({ label, value, unit }) => ({
    label,
    value: formatValue(value, unit),
  }));
}

export function decisionsOf(entries: readonly Entry[]): Decision[] {
  return findAll(entries, 'answer').map(({ entry, body }) => ({
    at: entry.at,
    by: entry.by,
    what: body.label ?? body.event,
    reason: body.reason ?? '',
  }));
}

/** Deviations from the runbook: by its steps, and by people who replaced, repeated or skipped them. */
export function deviationsOf(entries: readonly Entry[], followUps: readonly WrittenFollowUp[]): Deviation[] {
  const closed = find(entries, 'run.closed')?.body;
  const steps = (closed?.deviations ?? []).map(({ step, reason }) => deviation('step', step, reason));
  const listed = new Set(closed?.deviations.map(({ step }) => step));
  const seenTo = followUps.flatMap(({ id, what, closed: by }) => {
    if (by?.how === 'skipped' && !listed.has(id)) return [deviation('skipped', what, by.text)];
    return by?.how === 'hand' ? [deviation('by hand', what, by.text)] : [];
  });
  const retried = findAll(entries, 'answer')
    .filter(({ body }) => /^operator\.(?:retry|again)/u.test(body.event))
    .map(({ entry, body }) => {
      const what = `${body.label ?? body.event}, at ${formatTime(entry.at)} UTC`;
      return deviation('retried', what, body.reason ?? '');
    });
  const resumed = findAll(entries, 'run.resumed').map(({ entry }) =>
    deviation('resumed', 'another process went on with the run', entry.at),
  );
  return [...bypassed(entries), ...steps, ...seenTo, ...retried, ...resumed, ...abandoned(entries)];
}

function bypassed(entries: readonly Entry[]): Deviation[] {
  const without = findAll(entries, 'approval.bypassed').map(({ body }) =>
    deviation('break-glass', `${body.order} without a second person`, body.reason),
  );
  const weakened = findAll(entries, 'approval.weakened').map(({ body }) =>
    deviation('break-glass', 'resumed with weaker approval rules than at the start', body.reason),
  );
  return [...without, ...weakened];
}

function abandoned(entries: readonly Entry[]): Deviation[] {
  const reason = find(entries, 'run.abandoned')?.body.reason;
  return reason === undefined ? [] : [deviation('step', 'the run was abandoned', reason)];
}

function deviation(kind: Deviation['kind'], what: string, reason: string): Deviation {
  return { kind, what, reason };
}

/** Problems and doubts during the run. Their cause and the corrective actions are for people to write in. */
export function issuesOf(entries: readonly Entry[]): Issue[] {
  return marksOf(entries)
    .filter(({ kind }) => kind === 'trouble' || kind === 'doubt')
    .map(({ at, text }) => ({ at, what: text, ...OPEN }));
}

const OPEN = { rootCause: null, correctiveAction: null, owner: null, due: null, status: null };

/** Lines for people to fill in. */
export function blanksFor(
  runbook: string | undefined,
  { hasTarget, hasCustody }: { readonly hasTarget: boolean; readonly hasCustody: boolean },
): Report['blanks'] {
  const all: Report['blanks'] = [];
  const ask = (part: Report['blanks'][number]['in'], ...labels: readonly string[]) =>
    all.push(...labels.map((label) => ({ in: part, label, value: null })));
  ask('scope', 'Scenario', 'Why this instance was chosen');
  ask('people', 'Observers', 'Further participants and their roles', 'How the identities were checked');
  ask('plan', 'Plan approved by, on', 'Plan last reviewed on');
  if (hasTarget)
    ask(
      'instances',
      'How the target is segregated from the source, physically and logically (DORA Art. 12(3))',
    );
  ask('objectives', 'Objectives set by');
  ask('checks', 'Further reconciliations and their results');
  ask('signOff', 'Next drill due');
  ask('issues', 'Further issues, lessons and actions');
  if (runbook === 'rotate-key') {
    ask(
      'rotation',
      'System owner',
      'Key custodian(s) and reference of their acknowledgement (PCI DSS 3.7.8)',
    );
    ask(
      'rotation',
      'Kind of reason: end of cryptoperiod, suspected compromise, change of personnel, first key',
    );
    ask('rotation', 'Cryptoperiod', ...(hasCustody ? [] : ['Escrow copies']), 'Split knowledge');
    ask('rotation', 'Next rotation due');
  }
  return all;
}

export const SIGN_OFF: Report['signOff'] = [
  { role: 'Operator', name: null, date: null, statement: 'The record shows what was done.' },
  { role: 'Reviewer', name: null, date: null, statement: 'The record and its evidence were verified.' },
  {
    role: 'Owner of the service',
    name: null,
    date: null,
    statement: 'The result and the open actions are accepted.',
  },
];
