import { counted } from './format.ts';

/** A recovery into an instance works in these states (service-api.md section 2.4). */
export const TARGET_STATES: ReadonlySet<string> = new Set(['available', 'provisioned']);

/** What an instance has, as numbers. */
interface Holdings {
  readonly apps: number;
  /** Done ones. */
  readonly backups: number;
  /** In any state: a failed one may have replaced some of the data. */
  readonly restores: number;
}

/**
 * What keeps a target from being empty, such as `1 backup and 2 restores`; undefined if it is empty. One rule
 * for evaluations and runs. Pure.
 */
export function holdingsOf({ apps, backups, restores }: Holdings): string | undefined {
  const holds = [some(apps, 'bound app'), some(backups, 'backup'), some(restores, 'restore')].flatMap(
    (text) => text ?? [],
  );
  if (holds.length < 2) return holds[0];
  return `${holds.slice(0, -1).join(', ')} and ${holds.at(-1)}`;
}

function some(count: number, noun: string): string | undefined {
  return count === 0 ? undefined : counted(count, noun);
}
