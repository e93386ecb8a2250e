import { formatTime } from '../../../base/format.ts';
import type { LabCallRow, LabInstance, LabScenario } from '../../../view/app/lab-facts.ts';
import type { Column } from '../../parts/table.ts';
import { type Span, span } from '../../span.ts';

export const INSTANCE_COLUMNS: readonly Column<LabInstance>[] = [
  { title: 'instance', cell: ({ name }) => [span(name)], least: 10 },
  { title: 'state', cell: ({ state }) => [stateSpan(state)] },
  {
    title: 'backups',
    align: 'right',
    cell: ({ backups }) => [span(backups === undefined ? '-' : String(backups))],
    drop: 1,
  },
];

export const SCENARIO_COLUMNS: readonly Column<LabScenario>[] = [
  { title: 'scenario', cell: ({ name }) => [span(name)] },
  { title: 'what you learn', cell: ({ summary }) => [span(summary, 'text.dim')], least: 10, drop: 1 },
];

export const CALL_COLUMNS: readonly Column<LabCallRow>[] = [
  { title: 'at (UTC)', cell: ({ at }) => [span(formatTime(at).slice(-8), 'text.dim')], drop: 1 },
  { title: 'instance', cell: ({ instance }) => [span(instance)], least: 8 },
  { title: 'change', cell: ({ endpoint }) => [span(endpoint)], least: 10 },
  { title: 'what it did', cell: ({ detail }) => [span(detail, 'text.dim')], least: 6, drop: 2 },
];

/** A word and not the colour alone tells what is gone. */
function stateSpan(state: string): Span {
  if (state === 'running') return span(state, 'status.ok');
  if (state === 'lost') return span('LOST', 'status.bad');
  if (state === 'deleted') return span('DELETED', 'status.bad');
  return span(state, 'status.warn');
}
