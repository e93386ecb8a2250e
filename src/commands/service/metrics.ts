import { isoOf } from '../../base/date.ts';
import { EXIT } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { wholeNumber } from '../../cli/numbers.ts';
import { isForPeople, printTable } from '../../cli/print-result.ts';
import type { MetricPoint, MetricSeries, ParachuteDisk } from '../../service/metrics.ts';
import { metricWords } from '../../view/app/metric-words.ts';
import { askInstance, type InstanceFlags, printAnswer } from './on-instance.ts';

/** Points of a line: readable at a glance, and fits beside the numbers at 80 columns. */
const POINTS = 20;

/**
 * `lifeboat metrics`: prints the latest value of every path with its course; the disks compared with the
 * parachute first (endpoint 16).
 */
export const metrics: Action<InstanceFlags & { readonly quantity?: string; readonly path?: string }> = async (
  context,
  _,
  flags,
) => {
  const quantity =
    flags.quantity === undefined ? {} : { quantity: wholeNumber(flags.quantity, '--quantity', 1) };
  const { path = '' } = flags;
  const answer = await askInstance(context, flags, ({ service }) => service.metrics(quantity));
  if (isForPeople(context)) await printMetrics(context, answer.value, path);
  else {
    const raw = path === '' ? answer.raw : await onPath(answer.raw, path);
    await printAnswer(context, 'metrics', { ...answer, raw }, () => undefined);
  }
  return EXIT.closed;
};

/** The data points of an answer whose path contains the text, as the service wrote them. */
async function onPath(raw: unknown, path: string): Promise<unknown> {
  const { readMetrics } = await import('../../service/metrics.ts');
  const has = (element: unknown) => readMetrics([element]).some((point) => point.path.includes(path));
  return Array.isArray(raw) ? raw.filter(has) : raw;
}

async function printMetrics(
  context: CommandContext,
  value: readonly MetricPoint[],
  path: string,
): Promise<void> {
  const { seriesOf } = await import('../../service/metrics.ts');
  const { default: sparkly } = await import('sparkly');
  const all = seriesOf(value).filter((series) => series.path.includes(path));
  if (all.length === 0) {
    context.stderr.write('there are no data points\n');
    return;
  }
  const { parachuteDisks } = await import('../../service/metrics.ts');
  for (const disk of parachuteDisks(value)) context.stdout.write(`${diskLine(disk)}\n`);
  const timeOf = clockFor(all.flatMap(({ points }) => points.at(-1)?.atMs ?? []));
  const line = (series: MetricSeries) => sparkly(series.points.slice(-POINTS).map((point) => point.value));
  printTable(
    context,
    [
      { title: 'path', gives: 'start' },
      { title: 'latest', align: 'right' },
      { title: 'at (UTC)' },
      { title: 'course' },
    ],
    all.map((series) => {
      const latest = series.points.at(-1);
      return [
        series.path,
        metricWords(series.path, latest?.value),
        latest === undefined ? '-' : timeOf(latest.atMs),
        line(series),
      ];
    }),
  );
}

/** Times without the day, if all of them are on one: the path needs the room. */
function clockFor(times: readonly number[]): (ms: number) => string {
  const full = (ms: number) => formatTime(isoOf(ms));
  const days = new Set(times.map((ms) => full(ms).slice(0, 10)));
  return days.size > 1 ? full : (ms) => full(ms).slice(11);
}

/** One line per disk: how far it is from the parachute, which stops the node (service-api.md section 2.8). */
export function diskLine({
  service,
  index,
  disk,
  usedPercent,
  usedThreshold,
  activated,
}: ParachuteDisk): string {
  const name = [service, index, disk].filter((part) => part !== undefined).join('.');
  const used = usedPercent === undefined ? 'fill unknown' : `${percent(usedPercent)} used`;
  if (activated) return `${show(name)}: ${used}, THE PARACHUTE IS OPEN: the node is stopped`;
  if (usedPercent === undefined || usedThreshold === undefined) return `${show(name)}: ${used}`;
  const room = Number((usedThreshold - usedPercent).toFixed(1));
  return `${show(name)}: ${used}, parachute opens at ${percent(usedThreshold)}: ${room} points of room`;
}

function percent(value: number): string {
  return `${Number(value.toFixed(1))} %`;
}
