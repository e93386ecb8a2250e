/** What the steps of a plan need that are no runbooks. */
export interface OutsideDeps {
  /** The instance of the lane, or the plan. */
  readonly instance: string;
  /** Environment variables with tokens; withheld from every program. */
  readonly hideEnv: readonly string[];
  /** The reconciliation command of the instance; `timeout` in milliseconds. */
  readonly reconcile: { readonly command: string; readonly timeout: number } | undefined;
  /** Sends a text to a target of the config, or to all. Resolves with the names of those that took it. */
  readonly tell: (to: string | undefined, text: string, signal: AbortSignal) => Promise<readonly string[]>;
}
