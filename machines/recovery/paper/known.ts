import type { PaperValue } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';

type Task = RecoveryContext['safety'];

/** The id of a task, unless the run is about to ask for it (again): then the list has to be looked at. */
export function landedIn({ landed }: Task, asking: readonly string[], state: string): number | undefined {
  return asking.includes(state) ? undefined : landed?.id;
}

/** A value that is known now, or a shell variable for it. */
export function knownOr(value: string | undefined, variable: string, what: string): PaperValue {
  return value === undefined ? { variable, what } : { known: value };
}

/** `, fingerprint 6f3a2b1c0d9e`, where it is known. */
export function fingerprinted(fingerprint: string | undefined): string {
  return fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`;
}
