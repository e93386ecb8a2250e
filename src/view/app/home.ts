/** One instance as the config has it. */
export interface HomeInstance {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** A run that changes it is a rehearsal. */
  readonly isRehearsal: boolean;
  /** The revision of its API, as the config names it. */
  readonly revision: string;
  /** Where its API is, for people: host and port. */
  readonly place: string;
  /** The whole address without its spelling: two instances that share it are one. */
  readonly address?: string;
}

/** The lab that the config names. */
export interface HomeLab {
  /** Host and port. */
  readonly place: string;
  /** Instances of the config that are somewhere else: the lab cannot touch them. */
  readonly elsewhere: readonly string[];
}

/** Why there is no screen of a lab. */
export const NO_LAB = 'the config names no lab: `lifeboat lab --out lifeboat.yaml` writes one that does';

/** What config and environment say. */
export interface Home {
  readonly instances: readonly HomeInstance[];
  readonly operator: string;
  /** The names of all applications that the config names. */
  readonly apps?: readonly string[];
  /** The folder of keys and journal. */
  readonly folder: string;
  readonly config: string;
  /** Where the journal is: a folder, or the address of a database without its password. */
  readonly store: string;
  /** Only a config for a lab names one; there is no other way to know a lab. */
  readonly lab?: HomeLab | undefined;
}

/** What the frame of a screen says: the real thing, a rehearsal, or some of both. */
export type Badge = 'LIVE' | 'REHEARSAL' | 'MIXED';

/** What is at stake on a screen over these; undefined where the config is not read, or names none. */
export function badgeOf(instances: readonly HomeInstance[] | undefined): Badge | undefined {
  if (instances === undefined || instances.length === 0) return undefined;
  const rehearsals = instances.filter(({ isRehearsal }) => isRehearsal).length;
  if (rehearsals === 0) return 'LIVE';
  return rehearsals === instances.length ? 'REHEARSAL' : 'MIXED';
}
