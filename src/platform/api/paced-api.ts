import type { RebindOptions } from '../platform.ts';
import type { Pace } from '../wait.ts';
import type { ApiConnection } from './connection.ts';

/** What every change by the API works with. */
export interface PacedApi {
  readonly api: ApiConnection;
  readonly pace: Pace;
}

/** The options of a verb with the end of the restore. */
export interface AfterRestore extends RebindOptions {
  readonly notBefore: string;
}
