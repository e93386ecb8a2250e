import { formatSpan } from '../../base/format.ts';

/** Reported by the lab. Each text is one printable line. */
export interface LabFacts {
  /** Host and port. */
  readonly place: string;
  /** The databases, and the revision of the service. */
  readonly about: string;
  /** Undefined before the first scenario. */
  readonly playing: string | undefined;
  readonly scenarios: readonly LabScenario[];
  /** A sentence each. */
  readonly faults: readonly string[];
  readonly instances: readonly LabInstance[];
  readonly clock: LabClock;
  /** The router ends a request after this time. */
  readonly routerSeconds: number;
  /** Whether maintenance updates can be forbidden. */
  readonly updateBlocking: boolean;
  /** Changes that the service carried out, newest first. */
  readonly calls: readonly LabCallRow[];
  /** All changes, also those not listed. */
  readonly callCount: number;
}

export interface LabScenario {
  readonly name: string;
  /** The lesson for a team. */
  readonly summary: string;
}

export interface LabInstance {
  readonly name: string;
  /** `running`, `stopped`, `lost`, `deleted`, or a word that this version does not know. */
  readonly state: string;
  readonly backups: number | undefined;
}

export interface LabClock {
  /** RFC 3339. */
  readonly now: string;
  /** 1 is real time. */
  readonly rate: number;
  /** Negative is behind. */
  readonly skewSeconds: number;
  /** Moved ahead of real time by jumps and rate. */
  readonly aheadSeconds: number;
}

export interface LabCallRow {
  /** RFC 3339. */
  readonly at: string;
  readonly instance: string;
  /** `POST /backups` */
  readonly endpoint: string;
  /** `id 4`. */
  readonly detail: string;
}

export type LabChange =
  | { readonly do: 'play'; readonly scenario: string }
  | { readonly do: 'stop-faults' }
  | { readonly do: 'lose' | 'bring-back' | 'delete'; readonly instance: string }
  /** A duration as typed: `30d` or `1h30m`. */
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

/** With days: `30 d`, `1 d 2 h`, `7 min`. */
export function spanWords(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const days = Math.floor(whole / DAY);
  const rest = whole % DAY;
  if (days === 0) return formatSpan(rest);
  return rest < 60 ? `${days} d` : `${days} d ${formatSpan(rest)}`;
}
