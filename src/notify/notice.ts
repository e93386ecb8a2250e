import { formatSeconds, readable } from '../base/format.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import type { ResultOf } from '../cli/print-result.ts';
import type { NamedRun, RunEnding } from '../store/projections/run-summary.ts';

/** A fact of the journal, or of the records of drills, that people may have to be told. */
export type Notice = {
  /** The same from every process and at every attempt, so that a receiver can drop what it already has. */
  readonly id: string;
  /** The leaf of the entry that caused it; undefined if no entry did. */
  readonly index: number | undefined;
  /** RFC 3339. */
  readonly since: string;
  /** Still holds or is new, so a target that was added later is told too. */
  readonly stands?: boolean;
} & (
  | { readonly event: 'question'; readonly run: NamedRun; readonly title: string }
  | {
      readonly event: 'rto';
      readonly run: NamedRun;
      readonly rtoSeconds: number;
      readonly elapsedSeconds: number;
    }
  | { readonly event: 'ended'; readonly run: NamedRun; readonly outcome: RunEnding }
  | { readonly event: 'drill-due' }
  | {
      readonly event: 'evaluation-due';
      readonly missed: 'evaluation' | 'drill';
      /** The plan that it is about, with periods of its own. */
      readonly plan?: string;
    }
  | { readonly event: 'rotation-due'; readonly instance: string; readonly key: string }
  | { readonly event: 'drill-failed'; readonly drill: string; readonly scope: string }
);

/** What a target gets: no text of the service, and no secret. */
export type Notification = ResultOf<'notification'>;

export function notificationOf(notice: Notice): Notification {
  const { id, event, since } = notice;
  const run = 'run' in notice ? notice.run : undefined;
  const mode = run?.mode === 'REHEARSAL' ? 'REHEARSAL: ' : '';
  const command = commandFor(notice);
  return {
    ...{ id, event, since, text: `${mode}${readable(sentenceFor(notice), 300)}; ${command}`, command },
    ...(run === undefined
      ? {}
      : {
          ...{ run: run.runId, runbook: run.runbook, instance: run.instance, mode: run.mode },
          ...(run.target === undefined ? {} : { target: run.target }),
        }),
    ...(notice.event === 'question' ? { title: readable(notice.title, 200) } : {}),
    ...(notice.event === 'ended' ? { outcome: notice.outcome } : {}),
    ...(notice.event === 'rto'
      ? { objective: { rtoSeconds: notice.rtoSeconds, elapsedSeconds: notice.elapsedSeconds } }
      : {}),
    ...(notice.event === 'drill-failed' ? { drill: notice.drill } : {}),
    ...(notice.event === 'rotation-due' ? { instance: notice.instance } : {}),
  };
}

export function bodyOf(notification: Notification): string {
  return JSON.stringify({ schema: 'lifeboat.notification/1', ...notification });
}

/** What `lifeboat notify test` sends. */
export function testNotification(at: Date): Notification {
  const since = at.toISOString();
  const command = 'lifeboat doctor';
  const text = 'a test of the notifications of lifeboat; nothing has happened';
  return { id: `test/${at.getTime()}`, event: 'test', since, text, command };
}

/** What a step of a plan tells. `step` is the id of its run, so it is the same at each attempt. */
export function planNotification(
  told: {
    readonly runId: string;
    readonly instance: string;
    readonly step: string;
    readonly mode: 'LIVE' | 'REHEARSAL';
    readonly text: string;
  },
  at: Date,
): Notification {
  const { runId, instance, step, mode, text } = told;
  const command = `lifeboat plans show ${shellQuoted(runId)}`;
  return {
    ...{ id: `plan/${step}`, event: 'plan', since: at.toISOString(), command },
    ...{ run: runId, runbook: 'plan', instance, mode },
    text: `${mode === 'REHEARSAL' ? 'REHEARSAL: ' : ''}${readable(text, 1_000)}; ${command}`,
  };
}

function sentenceFor(notice: Notice): string {
  if (notice.event === 'drill-due') return 'a drill is due';
  if (notice.event === 'evaluation-due' && notice.plan !== undefined)
    return notice.missed === 'drill'
      ? `plan ${notice.plan} has no proven run within 1.25 of its period`
      : `plan ${notice.plan} was not evaluated within two periods`;
  if (notice.event === 'evaluation-due')
    return notice.missed === 'drill'
      ? 'no drill was proven for 1.25 of its period'
      : 'an instance was not evaluated for two periods';
  if (notice.event === 'rotation-due') return `key ${notice.key} of ${notice.instance} is due for rotation`;
  if (notice.event === 'drill-failed') return `the drill ${notice.drill} (${notice.scope}) failed`;
  const { runbook, instance, target } = notice.run;
  const what = `${runbook} on ${instance}${target === undefined ? '' : ` into ${target}`}`;
  if (notice.event === 'question') return `${what} waits for a person: ${notice.title}`;
  if (notice.event === 'ended') return `${what} ${ENDINGS[notice.outcome]}`;
  const [elapsed, limit] = [formatSeconds(notice.elapsedSeconds), formatSeconds(notice.rtoSeconds)];
  return `${what} has taken ${elapsed} of ${limit}, its recovery time objective`;
}

const ENDINGS: Readonly<Record<RunEnding, string>> = {
  closed: 'is closed and proven',
  unproven: 'is closed without proof',
  failed: 'was stopped after a failure',
  stopped: 'was stopped',
  abandoned: 'was abandoned',
};

function commandFor(notice: Notice): string {
  if (notice.event === 'drill-due' || notice.event === 'drill-failed') return 'lifeboat drill --auto';
  if (notice.event === 'evaluation-due') {
    const { missed, plan } = notice;
    if (plan === undefined) return missed === 'drill' ? 'lifeboat drill --auto' : 'lifeboat plans evaluate';
    const name = shellQuoted(plan);
    return missed === 'drill' ? `lifeboat plans run ${name} --rehearsal` : `lifeboat plans evaluate ${name}`;
  }
  if (notice.event === 'rotation-due') return `lifeboat run rotate-key ${shellQuoted(notice.instance)}`;
  const runId = shellQuoted(notice.run.runId);
  return notice.event === 'ended' ? `lifeboat report ${runId}` : `lifeboat resume ${runId}`;
}
