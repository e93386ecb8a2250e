import { isReachable } from '../../../machines/closing/evaluate.ts';
import type { ReachableRange } from '../../../machines/parts/recovery-data.ts';
import { dateAt, isoOf } from '../../base/date.ts';
import { EXIT, errorFrom, LifeboatError } from '../../base/errors.ts';
import { formatSpan } from '../../base/format.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Answer, ServiceClient } from '../../service/client.ts';
import type { PitrRange } from '../../service/schemas.ts';
import { momentFrom } from '../run/run-input.ts';
import { changeInstance } from './change.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';
import type { ChangeFlags } from './planned-change.ts';
import { printFacts } from './print-facts.ts';
import { restoreFields, showRestore } from './tasks.ts';

/** `lifeboat pitr show`: prints the range that can be restored to (endpoint 17). */
export const pitrShow: Action<InstanceFlags> = async (context, _, flags) => {
  const answer = await askInstance(context, flags, ({ service }) => rangeOf(service));
  const { start, end } = edgesOf(answer.value);
  await printAnswer(context, 'pitr', answer, () => {
    printFacts(context, [
      ['oldest point', bothClocks(start)],
      ['newest point', bothClocks(end)],
      ['reaches over', formatSpan((end - start) / 1000)],
      ['newest is', `${formatSpan(Math.max(0, (Date.now() - end) / 1000))} old by this machine's clock`],
    ]);
  });
  return EXIT.closed;
};

/** `lifeboat pitr restore --to TIME`: restores the instance to a point in time (endpoint 18). */
export const pitrRestore: Action<ChangeFlags & { readonly to: string }> = async (context, _, flags) => {
  // The service takes UTC (service-api.md section 2); it may read another offset as UTC or refuse it.
  const targetTime = await momentFrom(flags.to, '--to', new Date());
  return changeInstance(context, flags, async ({ instance }) => {
    await assertReachable(instance, flags.to, targetTime);
    return {
      single: { change: 'restoreToTime', setsKey: false },
      weight: 'destroys',
      time: targetTime,
      title: () => `restore ${instance.name} to ${flags.to}, which is ${bothClocks(msOf(targetTime))}`,
      warnings: ({ choose: { range } }) => [
        ...(range === undefined
          ? []
          : [`everything written in the ${lostIn(range, targetTime)} after it is gone`]),
        'afterwards every bound application must be unbound, bound again and restaged',
        'create a backup right after it: the database begins a new timeline',
      ],
      done: (run) => restoreFields(run, 'is under way'),
      show: showRestore(context),
    };
  });
};

function lostIn({ end }: Pick<ReachableRange, 'end'>, time: string): string {
  return formatSpan((msOf(end) - msOf(time)) / 1000);
}

/** The range; if there is none, the error says what that means (section 4.1 rule 4). */
async function rangeOf(service: ServiceClient): Promise<Answer<PitrRange>> {
  try {
    return await service.pitrRange();
  } catch (thrown) {
    if (!(thrown instanceof LifeboatError) || thrown.code !== 'service.not-found') throw thrown;
    throw new LifeboatError('pitr.not-available', 'this instance has no point-in-time range', {
      hints: [
        'only instances with continuous archiving have one; it cannot be switched on later',
        '`lifeboat backups list NAME` shows what can be restored instead',
      ],
      evidence: thrown.evidence,
    });
  }
}

/** The edges of the range in milliseconds since 1970; without a zone they are UTC. */
export function edgesOf({ start_time, end_time }: PitrRange): {
  readonly start: number;
  readonly end: number;
} {
  const [start, end] = [instantOf(start_time), instantOf(end_time)];
  if (start !== undefined && end !== undefined && start <= end) return { start, end };
  const what =
    start_time === undefined || end_time === undefined
      ? 'the service reports no range of times'
      : 'the range that the service reports is not valid';
  throw new LifeboatError('service.bad-answer', what, {
    hints: ['ask again later', '`lifeboat backups list NAME` shows what can be restored instead'],
    evidence: { start: show(start_time ?? 'missing', 60), end: show(end_time ?? 'missing', 60) },
  });
}

/** Before there is a run: rejects without a range, and for a time outside it (`usage.time`, exit 2). */
async function assertReachable(instance: OpenInstance, typed: string, time: string): Promise<void> {
  const { pitrRange } = await import('../../activities/pitr-range.ts');
  const now = () => new Date();
  const signal = new AbortController().signal;
  const context = { runId: 'look', instance: instance.name, signal, now, report: () => undefined };
  const read = await pitrRange(instance).run({}, context);
  if (!read.ok) throw errorFrom(read.failure);
  const range = read.output;
  if (isReachable(range, time)) return;
  throw new LifeboatError('usage.time', `${show(typed, 60)} is outside of the range that can be restored`, {
    hints: [`oldest: ${range.start}`, `newest: ${range.end}`, 'nothing was sent'],
    exitCode: EXIT.usage,
  });
}

/** The moment in UTC and, if that differs, by this machine's clock. */
function bothClocks(ms: number): string {
  const utc = isoOf(ms).replace('T', ' ').replace('Z', ' UTC');
  const minutes = -dateAt(ms).getTimezoneOffset();
  if (minutes === 0) return utc;
  const local = isoOf(ms + minutes * 60_000)
    .slice(0, 19)
    .replace('T', ' ');
  const sign = minutes < 0 ? '-' : '+';
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${utc} (here ${local} ${sign}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)})`;
}
