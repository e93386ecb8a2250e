import type { Reconciliation } from '../../machines/parts/recovery-data.ts';
import { isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { instantOf } from '../base/instant.ts';
import { redactOutput } from '../base/redact.ts';
import { childEnvironment, type Ended, runShell, STDERR_LIMIT, STDOUT_LIMIT } from '../base/run-shell.ts';
import { show } from '../base/text.ts';
import { type ActivityOf, ok, readVerb } from './activity.ts';
import type { ActivityDeps } from './deps.ts';

/** Enough to measure by; a query that dumps a table must not fill the journal. */
const SHOWN = 2_000;

/**
 * Reads the newest time and the count from the output of the config's command. Without a command the result
 * says so. A command that fails or takes too long is data, since the source of a recovery may be gone; only
 * stopping the run fails this. If the process dies inside, the command may continue to its end; it is a
 * query, so it is run again.
 */
export function reconcile(deps: Pick<ActivityDeps, 'reconcile'>): ActivityOf<'reconcile'> {
  return readVerb(async ({ when }, { instance, signal, now }) => {
    const { reconcile: config } = deps;
    const at = now().toISOString();
    if (config === undefined) return ok({ configured: false, at });
    const ended = await runShell(config.command, {
      env: childEnvironment(config.hideEnv ?? [], { LIFEBOAT_INSTANCE: instance, LIFEBOAT_WHEN: when }),
      timeoutMs: config.timeoutMs,
      signal,
    });
    return ok({ configured: true, at, ...resultOf(ended, config.timeoutMs) });
  });
}

function resultOf(ended: Ended, timeoutMs: number): Partial<Reconciliation> {
  const output = show(redactOutput(ended.stdout, STDOUT_LIMIT).trim(), SHOWN);
  const shown = output === '' ? {} : { output };
  const failure = failureOfEnd(ended, timeoutMs);
  if (failure !== undefined) return { ...shown, failure };
  const measure = readMeasure(ended.stdout);
  if (measure.newest !== undefined || measure.count !== undefined) return { ...shown, ...measure };
  return {
    ...shown,
    failure: toFailure('reconcile.no-answer', 'the reconciliation command printed no time and no count'),
  };
}

function failureOfEnd({ exit, stderr }: Ended, timeoutMs: number): Failure | undefined {
  if (exit === 0) return undefined;
  if (exit === 'timeout')
    return toFailure(
      'reconcile.timeout',
      `the reconciliation command took longer than ${timeoutMs / 1000} s`,
    );
  const words = show(redactOutput(stderr, STDERR_LIMIT).trim(), 200);
  return toFailure('reconcile.failed', `the reconciliation command ended with ${exit}`, words);
}

function toFailure(code: string, shortMessage: string, stderr = ''): Failure {
  return new LifeboatError(code, shortMessage, {
    hints: [
      'the recovery can go on: what was lost is then measured by the time of the backup only',
      'run the command by hand to see why; it is under `reconcile` in lifeboat.yaml',
    ],
    ...(stderr === '' ? {} : { evidence: { stderr } }),
  }).toFailure();
}

export interface Measure {
  /** RFC 3339 in UTC. */
  readonly newest?: string;
  readonly count?: number;
}

/** RFC 3339, or as PostgreSQL prints it: `2026-03-01 02:59:00.123456+00`. */
const MOMENT =
  /(?<![\w-])(?<date>\d{4}-\d{2}-\d{2})[T ](?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?: ?(?<zone>Z|UTC|[+-]\d{2}(?::?\d{2})?))?(?![\w:.])/giu;
const DATE = /(?<![\w-])\d{4}-\d{2}-\d{2}(?![\w-])/gu;
/** Not part of a word, of a decimal, of a time or of a number with separators. */
const WHOLE = /(?<![\w.-]|\d[,:])\d+(?![\w-]|[.,:]\d)/u;

/**
 * The first date and time, as UTC if it has no zone, and the first whole number outside of dates and
 * decimals. Omits what is missing, and a number too large to be exact. Pure.
 */
export function readMeasure(text: string): Measure {
  const newest = [...text.matchAll(MOMENT)]
    .map(({ groups }) => momentOf(groups ?? {}))
    .find((moment) => moment !== undefined);
  const count = Number(WHOLE.exec(text.replace(MOMENT, ' ').replace(DATE, ' '))?.[0] ?? Number.NaN);
  return { ...(newest === undefined ? {} : { newest }), ...(Number.isSafeInteger(count) ? { count } : {}) };
}

function momentOf({ date, time, zone }: Readonly<Record<string, string | undefined>>): string | undefined {
  const seconds = time?.length === 'hh:mm'.length ? ':00' : '';
  const ms = instantOf(`${date}T${time}${seconds}${zone ?? ''}`);
  return ms === undefined ? undefined : isoOf(ms);
}
