import type { Api } from './api.ts';
import type { Level, Revision } from './check.ts';
import type { SomeConfig } from './shapes.ts';
import type { Trace } from './trace.ts';

/** What an instance showed before anything was changed. */
export interface Found {
  /** `the instance` or `the target`. */
  readonly whose: string;
  readonly api: Api;
  readonly config: SomeConfig;
}

/** What is tested, with what the suite knows about it and may do to it. */
export interface Subject {
  /** With the token that may do everything. */
  readonly api: Api;
  readonly revision: Revision;
  readonly level: Level;
  /** Whether the V0 base answers. */
  readonly v0: boolean;
  /** Undefined when the service does not tell, as in V0. */
  readonly archiving: boolean | undefined;
  readonly target: Api | undefined;
  /** The configurations that the suite may change, as they were found. */
  readonly found: readonly Found[];
  readonly readonlyApi: Api | undefined;
  /** The encryption key that the suite may set. */
  readonly key: string | undefined;
  /** Without a scheme word. */
  readonly token: string;
  /** Milliseconds until a task must have ended. */
  readonly deadline: number;
  /** Milliseconds between two looks at a task; they grow to ten times of it. */
  readonly poll: number;
  readonly trace: Trace;
}
