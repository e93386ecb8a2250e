import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { initialContext } from '../../machines/context.ts';
import type { RunInput, SingleChange } from '../../machines/inputs.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { metaAt, stepsOf } from '../../machines/parts/states.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import { spaced } from '../../machines/parts/verb-words.ts';
import { createSendMachine } from '../../machines/send.ts';
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

/** One picture of all phases; of a runbook whose runs pass different ones, one of each kind of run. */
function wholesOf({ id, machine, input }: Runbook): readonly string[] {
  const all = id === 'single-change' ? SINGLE : HALVES;
  const kinds = Object.entries(all).filter(([, kind]) => isInput(input, kind));
  if (kinds.length === 0) return [pictureOf(drawPhases(machine))];
  return kinds.map(([title, kind]) => {
    const context = initialContext(id as RunbookId, kind);
    // What only some runs pass belongs into the picture.
    const whole = drawPhases(machine, {
      ...context,
      key: { isWanted: true },
      preflight: { facts: { escrow: {} } },
    });
    return `**${title}**\n\n${pictureOf(whole)}`;
  });
}

/** A runbook that is run in halves. */
const HALVES: Readonly<Record<string, RunInput>> = {
  prepare: { instance: 'orders', target: 'orders-dr', mode: 'prepare' },
  perform: { instance: 'orders', target: 'orders-dr', mode: 'perform' },
};

/** The runs of `single-change`, by the command that starts them. */
const SINGLE: Readonly<Record<string, RunInput>> = {
  'backups create': single({ change: 'createBackup' }),
  'backups restore': single({ change: 'restoreBackup' }),
  'pitr restore': single({ change: 'restoreToTime' }),
  'dr perform': single({ change: 'performRecovery' }),
  'instance restart, recreate, update': single({ change: 'restart' }),
  'instance settings': single({ change: 'changeUpdateSetting' }),
  'backup-config set': single({ change: 'changeBackupSettings', settings: {} }),
  'backup-config set, with a key': single({ change: 'setKey', setsKey: true, settings: {} }),
  'dr prepare': single({ change: 'prepareRecovery' }),
  'dr prepare, with a key': single({ change: 'prepareRecovery', setsKey: true }),
};

function single(change: Pick<SingleChange, 'change'> & Partial<SingleChange>): RunInput {
  return { instance: 'orders', single: { wait: true, setsKey: false, ...change } };
}

/** Whether the runs of a runbook can begin with this; an input may ignore what it does not know. */
function isInput(input: Runbook['input'], kind: RunInput): boolean {
  const data: unknown = input.safeParse(kind).data;
  return Object.keys(kind).every((name) => Object.hasOwn(data ?? {}, name));
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

/** A send (`machines/send.ts`) as a picture: its states with what the runner does in them, and every edge. */
export function sendDiagram(): string {
  const { root } = createSendMachine();
  const states = leavesOf(root);
  const lines = states.map(({ key, invoke: [does] }) => {
    const words = does === undefined ? spaced(key) : `${spaced(key)} (${does.src})`;
    return `  state "${words}" as ${key}`;
  });
  const edges = states.flatMap((state) => {
    const targets = Map.groupBy(edgesOf(state), ({ to }) => to);
    return [...targets].map(
      ([to, all]) => `  ${state.key} --> ${to} : ${[...new Set(all.map(({ label }) => label))].join(' / ')}`,
    );
  });
  const over = states.filter(({ type }) => type === 'final').map(({ key }) => `  ${key} --> [*]`);
  const inDoubt = states.filter(({ parent }) => parent !== root).map(({ key }) => key);
  const classes = ['  classDef indoubt fill:#fef3c7,color:#78350f', `  class ${inDoubt.join(',')} indoubt`];
  const body = ['stateDiagram-v2', ...lines, '  [*] --> preparing', ...edges, ...over, ...classes];
  return ['```mermaid', ...body, '```', '', 'Yellow is doubt: a byte may have left.'].join('\n');
}

function leavesOf(node: AnyStateNode): readonly AnyStateNode[] {
  const children: readonly AnyStateNode[] = Object.values(node.states);
  return children.length === 0 ? [node] : children.flatMap(leavesOf);
}

/** The edges of a state, with those of the states that hold it. */
function edgesOf(state: AnyStateNode): readonly { readonly to: string; readonly label: string }[] {
  const holders =
    state.parent === undefined ? [] : edgesOf(state.parent).filter(({ to }) => to !== state.key);
  const own = [...state.transitions.values()].flat().flatMap(({ eventType, guard, target = [] }) =>
    (target as readonly AnyStateNode[]).map(({ key }) => ({
      to: key,
      label: spaced(eventType) + (typeof guard === 'string' ? `, ${spaced(guard)}` : ''),
    })),
  );
  return [...own, ...holders];
}
