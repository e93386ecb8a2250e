import type { PlatformProof } from '../../../machines/parts/recovery-data.ts';
import type { RebindOptions } from '../platform.ts';
import type { Pace } from '../wait.ts';
import type { ApiConnection } from './connection.ts';

/** What every change by the API works with. */
export interface Site {
  readonly api: ApiConnection;
  readonly pace: Pace;
}

/** The options of a verb with the end of the restore. */
export interface AfterRestore extends RebindOptions {
  readonly notBefore: string;
}

/** A proof; facts that are not known are left out. */
export function proof(
  outcome: PlatformProof['outcome'],
  text: string,
  at: string | null | undefined,
  evidence: Readonly<Record<string, PlatformProof['evidence'][string] | undefined>>,
): PlatformProof {
  const known = Object.entries(evidence).filter(
    (entry): entry is [string, PlatformProof['evidence'][string]] => entry[1] !== undefined,
  );
  return { outcome, text, ...(at == null ? {} : { at }), evidence: Object.fromEntries(known) };
}
