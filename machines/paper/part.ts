import type { RunContext } from '../context.ts';
import type { PaperStep } from '../parts/paper-step.ts';

/** What is left of a phase for a person without lifeboat; see `StateMeta`. */
export type PaperPart = (context: RunContext, at: string | undefined, state: string) => readonly PaperStep[];
