import { isoOf } from '../../base/date.ts';
import { counted } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import type { Block, GanttRow } from '../render/document.ts';
import type { PlanGroup, PlanReport } from './plan-report.ts';

/** Waves of a group that are drawn; the table has them all. */
const MOST = 12;

/** The groups and waves of a plan's run over time; nothing before the first group began. Pure. */
export function ganttOf({ groups, measured, run }: PlanReport): Block[] {
  const drawn = groups.filter(({ startedAt }) => startedAt !== undefined);
  if (drawn.length === 0) return [];
  const until = lastOf([
    measured.until,
    run.endedAt,
    ...drawn.flatMap(({ endedAt, waves, held }) => [
      endedAt,
      ...[...waves, ...held].map((span) => span.until),
    ]),
  ]);
  const { limitSeconds } = measured.rto;
  const waves = drawn.reduce((sum, group) => sum + group.waves.length, 0);
  return [
    {
      kind: 'gantt',
      caption: `${counted(drawn.length, 'group')} and ${counted(waves, 'wave')}; of each group at most ${MOST} waves are drawn.`,
      gantt: {
        from: measured.from,
        until,
        limitAt: limitSeconds === undefined ? undefined : isoOf(msOf(measured.from) + limitSeconds * 1000),
        rows: drawn.flatMap((group) => rowsOf(group, until)),
      },
    },
  ];
}

function lastOf(times: readonly (string | undefined)[]): string {
  return (
    times
      .flatMap((time) => time ?? [])
      .toSorted()
      .at(-1) ?? ''
  );
}

function rowsOf({ id, startedAt = '', endedAt, waves, held, lanes }: PlanGroup, until: string): GanttRow[] {
  const isWhole = (some: PlanGroup['lanes']) =>
    some.every(({ state }) => state === 'done' || state === 'open');
  const whole = { from: startedAt, until: endedAt ?? until, label: id };
  const waits = held.map((span) => ({
    tone: 'human' as const,
    from: span.from,
    until: span.until,
    label: span.why,
  }));
  return [
    { title: id, bars: [{ tone: isWhole(lanes) ? 'execute' : 'queue', ...whole }, ...waits] },
    ...waves.slice(0, MOST).map(({ wave, from, until: end, lanes: names }): GanttRow => {
      const mine = lanes.filter((lane) => lane.wave === wave);
      const named = names.filter((name) => name !== '-');
      const label = named.length === 0 ? `wave ${wave}` : named.join(', ');
      return {
        title: `  wave ${wave}${named.length === 0 ? '' : `: ${counted(named.length, 'instance')}`}`,
        bars: [{ tone: isWhole(mine) ? 'work' : 'queue', from, until: end, label }],
      };
    }),
  ];
}
