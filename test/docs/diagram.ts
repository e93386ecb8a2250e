import type { AnyStateMachine } from 'xstate';
import { drawMachine } from '../../src/view/machine-drawing.ts';

/** A machine as a Mermaid state diagram in Markdown, with what it leaves out. */
export function diagramOf(machine: AnyStateMachine): string {
  const { mermaid, notDrawn } = drawMachine(machine);
  const legend =
    'Blue asks the operator, pale red is a failure, yellow is doubt; dark red changes the service.';
  return `\`\`\`mermaid\n${mermaid}\n\`\`\`\n\n${legend}\n${notDrawn}`;
}
