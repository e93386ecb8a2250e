import { canonicalBody, hashOf } from '../../src/store/canonical.ts';
import type { Entry, Json, NewEntry } from '../../src/store/journal.ts';
import { type RunEntryBody, runEntry } from '../../src/store/run-entries.ts';

/** A hand-written entry of a run, this many seconds after its start. */
export interface Line {
  readonly at: number;
  readonly entry: NewEntry;
}

const RUN = '01R';
const START = Date.UTC(2026, 2, 1, 3);

/** The journal's time this many seconds after the start of a run. */
export function at(seconds: number): string {
  return new Date(START + seconds * 1000).toISOString();
}

export function started(changes: Partial<RunEntryBody<'run.started'>> = {}): Line {
  const body = {
    runbook: 'restore-backup',
    version: '1',
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'LIVE' as const,
    tool: { name: 'lifeboat', version: '0.1.0', node: '24.21.0' },
    operator: 'Ada',
    ...changes,
  };
  return { at: 0, entry: runEntry(RUN, 'run.started', body) };
}

/** The machine came to a state. */
export function moved(seconds: number, to: string, event: Record<string, Json> = {}): Line {
  const body = { event: { type: 'operator.next', ...event }, to, title: to } as RunEntryBody<'event'>;
  return { at: seconds, entry: runEntry(RUN, 'event', body) };
}

export function armed(seconds: number, verb: string, intent = 'i1'): Line {
  return { at: seconds, entry: runEntry(RUN, 'intent.armed', { intent, verb }) };
}

/** A verb was begun and has ended well, which brought the machine to the next state. */
export function performed(
  [from, until]: readonly [number, number],
  verb: string,
  output: Json,
  to: string,
  input: Json = {},
): Line[] {
  const begun = {
    activity: verb,
    verb,
    kind: 'read' as const,
    key: verb,
    input,
  } as RunEntryBody<'activity.begun'>;
  const event = { type: `xstate.done.actor.${verb}`, output };
  const ended = { event, to, title: to } as RunEntryBody<'event'>;
  return [
    { at: from, entry: runEntry(RUN, 'activity.begun', begun) },
    { at: until, entry: runEntry(RUN, 'event', ended) },
  ];
}

export function closed(seconds: number, changes: Partial<RunEntryBody<'run.closed'>> = {}): Line {
  const body = { outcome: 'done', proven: true, summary: [], deviations: [], ...changes };
  return { at: seconds, entry: runEntry(RUN, 'run.closed', body) };
}

export function abandoned(seconds: number, reason: string): Line {
  return { at: seconds, entry: runEntry(RUN, 'run.abandoned', { reason }) };
}

/** The lines as the entries of one run. */
export function journalOf(...lines: readonly (Line | readonly Line[])[]): readonly Entry[] {
  return lines.flat().map(({ at: seconds, entry: { stream, type, body } }, index) => {
    const row = { index: index + 1, stream, seq: index + 1, at: at(seconds), by: 'ada', type };
    return { ...row, body, hash: hashOf({ ...row, body: canonicalBody(body, 'body') }) };
  });
}

/** Which slice each state of these journals belongs to, as a machine would say it. */
export function sliceOf(state: string) {
  if (['choosing', 'confirming', 'restoreInDoubt', 'openFollowUps'].includes(state)) return 'human' as const;
  if (['restoring', 'waitingForRestore', 'waitingForInstance'].includes(state)) return 'execute' as const;
  return ['countingAfter', 'unbinding', 'restaging', 'takingFresh', 'done'].includes(state)
    ? ('rebind' as const)
    : ('decide' as const);
}

const proof = { deployment: 'd-1', auditEvent: 'e-9' };

/**
 * The follow-ups of the run below. The second application was bound by hand; an old binding that nothing runs
 * on was skipped.
 */
export const followUps = [
  {
    id: 'rebind-orders-api',
    kind: 'rebind' as const,
    subject: 'orders-api',
    what: 'unbind, bind and restage orders-api',
    owner: 'Ada',
    since: at(165),
    dueSeconds: 900,
    commands: ['cf target -o acme -s prod', 'cf restage orders-api --strategy rolling'],
    doable: 'platform' as const,
    closed: { how: 'platform' as const, text: 'restaged, running', at: at(250), evidence: proof },
  },
  {
    id: 'rebind-billing',
    kind: 'rebind' as const,
    subject: 'billing',
    what: 'unbind, bind and restage billing',
    since: at(165),
    commands: [],
    closed: { how: 'hand' as const, text: 'restaged by the night shift', evidence: {} },
  },
  {
    id: 'old-binding-legacy',
    kind: 'old-binding' as const,
    subject: 'legacy',
    what: 'remove the binding of legacy',
    commands: [],
    closed: { how: 'skipped' as const, text: 'retired last week', evidence: {} },
  },
  {
    id: 'fresh-backup',
    kind: 'fresh-backup' as const,
    subject: 'orders',
    what: 'take a backup of the restored data',
    commands: [],
    doable: 'run' as const,
    closed: { how: 'run' as const, text: 'backup 9', at: at(330), evidence: { backup: 9 } },
  },
];

const preflight = { clockSkewSeconds: 2, service: { name: 'orders-db', plan: 'postgresql-single' } };
const chosen = { newest: [{ id: 7, status: 'done' }], total: 1 };
const before = { configured: true, at: at(30), newest: at(-40), count: 1000 };
const after = { configured: true, at: at(160), newest: at(-400), count: 940 };
const restored = {
  id: 4,
  status: 'done',
  backup: 7,
  restoredFrom: at(-398),
  triggeredAt: at(102),
  startedAt: at(112),
  finishedAt: at(142),
};

/**
 * A restore in place, second by second: decided at 100, at work from 110, available at 150, asked about the
 * applications from 170 to 200, the last of them bound at 300, closed at 340. The service's clock is 2 s
 * ahead.
 */
export const recoveryLines: readonly Line[] = [
  moved(1, 'checking', { type: 'xstate.init' }),
  ...performed([2, 10], 'preflight', preflight, 'choosing'),
  ...performed([11, 12], 'listBackups', chosen, 'choosing'),
  ...performed([25, 30], 'reconcile', before, 'confirming', { when: 'before' }),
  moved(98, 'restoring', { typed: 'orders' }),
  armed(100, 'restoreBackup'),
  ...performed([100, 102], 'restoreBackup', { landed: true, id: 4, adopted: false }, 'waitingForRestore'),
  ...performed([102, 145], 'waitForRestore', restored, 'waitingForInstance'),
  ...performed([145, 150], 'waitForInstance', { state: 'available' }, 'countingAfter'),
  ...performed([150, 160], 'reconcile', after, 'listingBound', { when: 'after' }),
  ...performed([160, 170], 'findBound', { apps: [] }, 'openFollowUps'),
  moved(200, 'restaging', { type: 'operator.doNow', id: 'rebind-orders-api' }),
  ...performed([200, 255], 'restageApp', { outcome: 'done' }, 'openFollowUps'),
  moved(300, 'takingFresh', {
    type: 'operator.reportDone',
    id: 'rebind-billing',
    text: 'restaged by the night shift',
  }),
  moved(335, 'done'),
];

/** The same, where an application or a service key was left without the data. */
export function leftOut(...kinds: readonly ('rebind' | 'service-key')[]): typeof followUps {
  const closed = { how: 'skipped' as const, text: 'not tonight', evidence: {} };
  const skipped = kinds.map((kind, nth) => ({
    ...{
      id: `${kind}-${nth}`,
      kind,
      subject: `part-${nth}`,
      what: `bind part-${nth}`,
      commands: [],
      closed,
    },
  }));
  return [...followUps, ...(skipped as unknown as typeof followUps)];
}

export const objectives = { rtoSeconds: 600, rpoSeconds: 300 };

/** The whole run. */
export const recovery: readonly Entry[] = journalOf(
  started({ objectives }),
  recoveryLines,
  closed(340, {
    title: 'restored, and its applications run',
    summary: [{ label: 'restored from', value: at(-400), unit: 'time' }],
    deviations: [{ step: 'unbind', reason: 'retired last week' }],
    followUps: followUps.map(({ commands: _, doable: __, ...rest }) => ({ ...rest })),
  }),
);

/** The same line, with another answer to the reconciliation. */
export function replaced(line: Line, when: 'before' | 'after', output: object): Line {
  const next = when === 'before' ? 30 : 160;
  const body = line.entry.body as { event?: { type: string } };
  if (line.at !== next || body.event?.type !== 'xstate.done.actor.reconcile') return line;
  return {
    ...line,
    entry: { ...line.entry, body: { ...body, event: { ...body.event, output } } as Line['entry']['body'] },
  };
}
