/**
 * What a run is to be about, as the screen has asked for it: the flags of `lifeboat run`, in the same words.
 */
export interface StartWish {
  readonly runbook: string;
  readonly instance: string;
  readonly target?: string;
  readonly backup?: string;
  /** RFC 3339. */
  readonly to?: string;
  readonly action?: 'restart' | 'recreate' | 'update';
  readonly prepare?: true;
  readonly perform?: true;
  /** When the incident began, RFC 3339. */
  readonly incident?: string;
  readonly reason?: string;
}
