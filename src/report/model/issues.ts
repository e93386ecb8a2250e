import type { Entry } from '../../store/journal.ts';
import { marksOf } from './marks.ts';
import type { Report } from './model.ts';
import type { Issue } from './model-rows.ts';

/**
 * What went wrong or was in doubt on the way. Its cause and what is done about it are for people to write in.
 */
export function issuesOf(entries: readonly Entry[]): Issue[] {
  return marksOf(entries)
    .filter(({ kind }) => kind === 'trouble' || kind === 'doubt')
    .map(({ at, text }) => ({ at, what: text, ...OPEN }));
}

const OPEN = { rootCause: null, correctiveAction: null, owner: null, due: null, status: null };

/** What only people know, as lines to fill in. */
export function blanksFor(runbook: string | undefined, hasTarget: boolean): Report['blanks'] {
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
    ask('rotation', 'Cryptoperiod', 'Escrow copies', 'Split knowledge', 'Next rotation due');
  }
  return all;
}

/** Who signs, and for what. */
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
