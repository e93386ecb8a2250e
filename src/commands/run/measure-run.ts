import { runbookOf } from '../../../machines/index.ts';
import { formatSeconds } from '../../base/format.ts';
import { type Measures, measure } from '../../report/measure/measure.ts';
import { SLICES, slicesOf } from '../../report/measure/slices.ts';
import { untilEnd } from '../../report/model/found.ts';
import { followUpsOf } from '../../runner/fold.ts';
import type { Entry } from '../../store/journal.ts';

/**
 * What a run's journal tells of its times; undefined for a runbook that recovers nothing, or in a version
 * that is not kept.
 */
export function measuresOfRun(runbook: string, entries: readonly Entry[], now?: Date): Measures | undefined {
  const { version = '' } = (entries[0]?.body ?? {}) as { readonly version?: string };
  const known = runbookOf(runbook, version);
  const sliceOf = known && slicesOf(known);
  if (known === undefined || sliceOf === undefined) return undefined;
  const own = untilEnd(entries);
  return measure(own, { sliceOf, followUps: followUpsOf(known, own), now });
}

/** `decide 12 s, queue 1 s`: the slices that took any time. */
export function slicesInWords({ time }: Measures): string {
  return SLICES.filter((slice) => time.slicesMs[slice] > 0)
    .map((slice) => `${slice} ${formatSeconds(time.slicesMs[slice] / 1000)}`)
    .join(', ');
}
