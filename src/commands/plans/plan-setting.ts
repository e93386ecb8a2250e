import type { CommandContext } from '../../cli/context.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';

/** Takes a run up once all is open that it needs. May reject: the run is not to be taken up now. */
export type InTurn = <T>(takeUp: () => Promise<T>) => Promise<T>;

export const atOnce: InTurn = (takeUp) => takeUp();

export interface PlanSetting {
  readonly context: CommandContext;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
  /** Milliseconds that a call under way may take to answer when this process leaves a run. */
  readonly leaveGraceMs?: number;
  /** Default: `atOnce`. */
  readonly inTurn?: InTurn;
}
