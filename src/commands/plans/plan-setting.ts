import type { CommandContext } from '../../cli/context.ts';
import type { Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';

export interface PlanSetting {
  readonly context: CommandContext;
  readonly config: LoadedConfig;
  readonly workspace: Workspace;
  /** Milliseconds that a call under way may take to answer when this process leaves a run. */
  readonly leaveGraceMs?: number;
  /** How a run is taken up once all is open that it needs; default: at once. It may reject. */
  readonly inTurn?: <T>(takeUp: () => Promise<T>) => Promise<T>;
}
