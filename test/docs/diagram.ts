import type { AnyStateMachine } from 'xstate';
import { initialContext } from '../../machines/context.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { metaAt, stepsOf } from '../../machines/parts/states.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import { type Drawing, drawPhase, drawPhases } from '../../src/view/machine-drawing.ts';

const LEGEND =
  'Blue asks the operator, pale red is a failure, yellow is doubt; dark red changes the service. A phase that other runbooks share is drawn in [phases.md](phases.md).';

/** The phases of a runbook as Mermaid state diagrams in Markdown, then each that is peculiar to it. */
export function diagramOf(runbook: Runbook): string {
  const { machine } = runbook;
  const own = stepsOf(machine).filter(({ id }) => metaAt(machine, id)?.like === undefined);
  return [
    ...wholesOf(runbook),
    LEGEND,
    ...own.map(({ id, title }) => `**${id}**: ${title}\n\n${pictureOf(drawPhase(machine, id))}`),
  ].join('\n\n');
}

const HALVES = ['prepare', 'perform'] as const;

/** One picture of all phases; of a runbook that is run in halves, one of each. */
function wholesOf({ id, machine, input }: Runbook): readonly string[] {
  const given = { instance: 'orders', target: 'orders-dr' };
  const halves = HALVES.filter((mode) => {
    const { data } = input.safeParse({ ...given, mode });
    return (data as { readonly mode?: string } | undefined)?.mode === mode;
  });
  if (halves.length === 0) return [pictureOf(drawPhases(machine))];
  return halves.map((mode) => {
    const context = initialContext(id as RunbookId, { ...given, mode });
    // What only some runs pass belongs into the picture.
    const whole = drawPhases(machine, { ...context, key: { isWanted: true } });
    return `**${mode}**\n\n${pictureOf(whole)}`;
  });
}

/** The phases that several runbooks share, each drawn where it has the most states. */
export function sharedDiagrams(runbooks: readonly Runbook[]): string {
  return [...sharedPhases(runbooks)]
    .map(
      ([like, { machine, id }]) =>
        `**${like}**, here as in \`${machine.id}\`\n\n${pictureOf(drawPhase(machine, id))}`,
    )
    .join('\n\n');
}

/** Where each shared phase has the most states. */
export function sharedPhases(
  runbooks: readonly Runbook[],
): ReadonlyMap<string, { readonly machine: AnyStateMachine; readonly id: string }> {
  const found = new Map<string, { machine: AnyStateMachine; id: string; states: number }>();
  for (const { machine } of runbooks) {
    for (const { id } of stepsOf(machine)) {
      const like = metaAt(machine, id)?.like;
      const states = Object.keys(machine.states[id]?.states ?? {}).length;
      if (like !== undefined && states > (found.get(like)?.states ?? 0))
        found.set(like, { machine, id, states });
    }
  }
  return found;
}

function pictureOf({ mermaid, notDrawn }: Drawing): string {
  return `\`\`\`mermaid\n${mermaid}\n\`\`\`${notDrawn === '' ? '' : `\n\n${notDrawn}`}`;
}
