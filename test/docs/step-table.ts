import type { Runbook, StateMeta } from '../../machines/parts/runbook.ts';

/** The steps of a run without trouble, as a Markdown table. */
export function stepTableOf(runbook: Runbook): string {
  let step: string | undefined;
  const rows = runbook.mainPath.map((state) => {
    const meta = metaOf(runbook, state);
    const first = meta.step !== step;
    step = meta.step;
    const calls = (meta.calls ?? []).map(
      ({ method, path, on, what }) =>
        `\`${method} …${path}\`${on === undefined ? '' : ' of the target:'} ${what}`,
    );
    return [
      first ? stepTitle(runbook, meta.step) : '',
      `\`${state}\``,
      meta.question === undefined ? meta.title : `asks: ${meta.title}`,
      [...calls, ...(meta.does ?? [])].join('<br>'),
      (meta.calls ?? []).flatMap(({ forever }) => forever ?? []).join('<br>'),
      meta.wayBack ?? '',
    ];
  });
  const titles = ['step', 'state', 'what it does', 'calls', 'what cannot be undone', 'way back'];
  return [titles, titles.map(() => '---'), ...rows].map(rowOf).join('\n');
}

function metaOf(runbook: Runbook, state: string): StateMeta<never, never> {
  const node = Object.hasOwn(runbook.machine.states, state) ? runbook.machine.states[state] : undefined;
  if (node === undefined) throw new Error(`the main path of ${runbook.id} names ${state}, which is no state`);
  return node.meta as StateMeta<never, never>;
}

function stepTitle(runbook: Runbook, id: string): string {
  const index = runbook.steps.findIndex((step) => step.id === id);
  if (index === -1) throw new Error(`${runbook.id} has no step ${id}`);
  return `${index + 1}. ${runbook.steps[index]?.title}`;
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
