import { isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { type ActivityOf, because, no, ok } from './activity.ts';
import type { ActivityDeps } from './deps.ts';

/** Closer to an edge is a risk: before the end of a base backup, or beyond the last archived change. */
const MARGIN_AT_START_MS = 5_000;
const MARGIN_AT_END_MS = 1_000;
const SECOND_MS = 1_000;

/**
 * Service-api.md endpoint 17. Fails with `service.unsupported` if the revision cannot restore to a point in
 * time, `pitr.not-available` for an instance without continuous archiving, `pitr.bad-range` for times that
 * are unreadable or in the wrong order.
 */
export function pitrRange(deps: Pick<ActivityDeps, 'service'>): ActivityOf<'pitrRange'> {
  return {
    kind: 'read',
    async run(_, { instance, signal, now }) {
      try {
        deps.service.require('restoreToTime');
        const { value } = await deps.service.pitrRange(signal);
        return rangeOf(value.start_time, value.end_time, now());
      } catch (thrown) {
        return isMissing(thrown) ? notAvailable(instance) : because(thrown);
      }
    },
  };
}

function rangeOf(startText: string | undefined, endText: string | undefined, readAt: Date) {
  const start = instantOf(startText);
  const end = instantOf(endText);
  const evidence = { start: shown(startText), end: shown(endText) };
  if (start === undefined || end === undefined || start > end) {
    return no('pitr.bad-range', 'the service does not say which times it can restore to', {
      hints: ['read it again; a restore from a backup does not need it'],
      evidence,
    });
  }
  const earliest = Math.ceil((start + MARGIN_AT_START_MS) / SECOND_MS) * SECOND_MS;
  const latest = Math.floor((end - MARGIN_AT_END_MS) / SECOND_MS) * SECOND_MS;
  return ok({
    start: utc(start),
    end: utc(end),
    readAt: readAt.toISOString(),
    earliest: utc(earliest),
    latest: utc(latest),
  });
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof LifeboatError && thrown.code === 'service.not-found';
}

function notAvailable(instance: string) {
  return no('pitr.not-available', 'the instance has no continuous archiving, so no time can be chosen', {
    hints: [
      'continuous archiving is set when an instance is created, and cannot be switched on later',
      `restore one of its backups instead: lifeboat run restore-backup ${instance}`,
    ],
  });
}

function utc(ms: number): string {
  return isoOf(ms);
}

function shown(text: string | undefined): string | null {
  return text === undefined ? null : show(text, 40);
}
