import type { Runbook } from '../../machines/parts/runbook.ts';
import { mainPathOf, metaAt, stepOf, stepsOf } from '../../machines/parts/states.ts';

/** What a run without trouble asks, calls and does, as a Markdown table. */
export function stepTableOf({ machine }: Runbook): string {
  const steps = stepsOf(machine);
  let step: string | undefined;
  const rows = mainPathOf(machine).map((state) => {
    const { title = '', question, calls = [], does = [], wayBack = '' } = metaAt(machine, state) ?? {};
    const phase = stepOf(state);
    const isFirst = phase !== step;
    step = phase;
    const index = steps.findIndex(({ id }) => id === phase);
    const made = calls.map(
      ({ method, path, on, what }) =>
        `\`${method} …${path}\`${on === undefined ? '' : ' of the target:'} ${what}`,
    );
    return [
      isFirst ? `${index + 1}. ${steps[index]?.title}` : '',
      `\`${state}\``,
      question === undefined ? title : `asks: ${title}`,
      [...made, ...does].join('<br>'),
      calls.flatMap(({ forever }) => forever ?? []).join('<br>'),
      wayBack,
    ];
  });
  const titles = ['step', 'state', 'what it does', 'calls', 'what cannot be undone', 'way back'];
  return [titles, titles.map(() => '---'), ...rows].map(rowOf).join('\n');
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
