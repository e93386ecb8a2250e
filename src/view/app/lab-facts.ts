import { formatSpan } from '../../base/format.ts';

/** What a running lab reports about itself. Each text is one printable line. */
export interface LabFacts {
  /** Host and port. */
  readonly place: string;
  /** What the databases are, and which revision of the service it plays. */
  readonly about: string;
  /** The last scenario begun; undefined before the first. */
  readonly playing: string | undefined;
  readonly scenarios: readonly LabScenario[];
  /** The pending faults, a sentence each. */
  readonly faults: readonly string[];
  readonly instances: readonly LabInstance[];
  readonly clock: LabClock;
  /** When the router ends a request, in seconds. */
  readonly routerSeconds: number;
  /** Whether maintenance updates can be forbidden. */
  readonly updateBlocking: boolean;
  /** The newest changes that the service carried out, newest first. */
  readonly calls: readonly LabCallRow[];
  /** How many there are in all. */
  readonly callCount: number;
}

export interface LabScenario {
  readonly name: string;
  /** What a team learns from it. */
  readonly summary: string;
}

export interface LabInstance {
  readonly name: string;
  /** `running`, `stopped`, `lost`, `deleted`, or a word that this version does not know. */
  readonly state: string;
  readonly backups: number | undefined;
}

export interface LabClock {
  /** The time of the service, RFC 3339. */
  readonly now: string;
  /** How fast its time passes: 1 is real. */
  readonly rate: number;
  /** Its error; negative is behind. */
  readonly skewSeconds: number;
  /** How far jumps and pace have moved it ahead of real time. */
  readonly aheadSeconds: number;
}

export interface LabCallRow {
  /** RFC 3339. */
  readonly at: string;
  readonly instance: string;
  /** `POST /backups` */
  readonly endpoint: string;
  /** What it did, such as `id 4`. */
  readonly detail: string;
}

/** A change of a lab. */
export type LabChange =
  | { readonly do: 'play'; readonly scenario: string }
  | { readonly do: 'stop-faults' }
  | { readonly do: 'lose' | 'bring-back' | 'delete'; readonly instance: string }
  /** `by` is a duration as typed, such as `30d` or `1h30m`. */
  | { readonly do: 'advance'; readonly by: string }
  | { readonly do: 'expire-tokens' };

/** Shown until the lab has answered. */
export function askingWords(change: LabChange): string {
  switch (change.do) {
    case 'play':
      return `beginning scenario ${change.scenario}`;
    case 'stop-faults':
      return 'ending all faults';
    case 'lose':
      return `taking ${change.instance} away`;
    case 'bring-back':
      return `bringing ${change.instance} back: its database recovers first`;
    case 'delete':
      return `deleting ${change.instance}`;
    case 'advance':
      return `moving the clock of the lab ahead by ${change.by}`;
    case 'expire-tokens':
      return 'expiring the tokens of the lab';
  }
}

const DAY = 86_400;

/** A length of time in words, with days: `30 d`, `1 d 2 h`, `7 min`. */
export function spanWords(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const days = Math.floor(whole / DAY);
  const rest = whole % DAY;
  if (days === 0) return formatSpan(rest);
  return rest < 60 ? `${days} d` : `${days} d ${formatSpan(rest)}`;
}
