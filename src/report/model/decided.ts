import { formatValue } from '../../base/format.ts';
import type { Entry } from '../../store/journal.ts';
import type { WrittenFollowUp } from './follow-ups.ts';
import { find, findAll } from './found.ts';
import type { Fact } from './model.ts';
import type { Decision, Deviation } from './model-rows.ts';

/** What the run says of itself at its end; undefined before. */
export function factsOf(entries: readonly Entry[]): Fact[] | undefined {
  return find(entries, 'run.closed')?.body.summary.map(({ label, value, unit }) => ({
    label,
    value: formatValue(value, unit),
  }));
}

/** What people decided, with their reasons. */
export function decisionsOf(entries: readonly Entry[]): Decision[] {
  return findAll(entries, 'answer').map(({ entry, body }) => ({
    at: entry.at,
    by: entry.by,
    what: body.label ?? body.event,
    reason: body.reason ?? '',
  }));
}

/**
 * What was not done as the runbook has it, and why: by its steps, and by people in its place, again, or not
 * at all.
 */
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
    .map(({ entry, body }) => deviation('retried', body.label ?? body.event, body.reason ?? entry.at));
  const resumed = findAll(entries, 'run.resumed').map(({ entry, body }) =>
    deviation('resumed', `another process (${body.pid}) carried the run on`, entry.at),
  );
  return [...bypassed(entries), ...steps, ...seenTo, ...retried, ...resumed, ...unclosed(entries)];
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

/** Only the end of a run lists what its steps left out. */
function unclosed(entries: readonly Entry[]): Deviation[] {
  if (find(entries, 'run.closed') !== undefined) return [];
  const abandoned = find(entries, 'run.abandoned')?.body.reason;
  if (abandoned !== undefined) return [deviation('step', 'the run was abandoned', abandoned)];
  return [deviation('open', 'the run is not closed', 'it lists what its steps left out when it closes')];
}

function deviation(kind: Deviation['kind'], what: string, reason: string): Deviation {
  return { kind, what, reason };
}
