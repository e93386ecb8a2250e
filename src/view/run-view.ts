/**
 * What a renderer needs to draw a run: plain data, every text already printable (see text.ts). The terminal
 * UI, the plain renderer and tests all take this and nothing else.
 */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'dim';

export interface RailStep {
  readonly id: string;
  readonly title: string;
  readonly state: 'done' | 'current' | 'ahead' | 'skipped' | 'failed';
  /** One short remark, for instance the reason of a skip. */
  readonly note?: string;
}

export interface FactLine {
  readonly label: string;
  readonly value: string;
  readonly tone: Tone;
}

export interface LogLine {
  /** `HH:MM:SS`, UTC. */
  readonly at: string;
  readonly text: string;
  readonly tone: Tone;
  /** What the run is at since then, as an `ActivityView` calls it; the text says it too. */
  readonly next?: string;
}

export interface QuestionOption {
  /** The machine event this answer sends. */
  readonly event: string;
  readonly label: string;
  /** What will happen, in one sentence. */
  readonly hint?: string;
  /** The answer `--yes` gives; the first thing the cursor stands on. */
  readonly recommended: boolean;
  /** Text the operator has to give with it. */
  readonly needs?: { readonly what: 'reason' | 'evidence'; readonly prompt: string };
  /** Why it cannot be chosen now. Shown, dimmed, with this sentence. */
  readonly disabled?: string;
}

export type QuestionView =
  | {
      readonly kind: 'choice';
      readonly prompt: string;
      /** The step that is under way goes on whether this is answered or not. */
      readonly beside?: true;
      readonly options: readonly QuestionOption[];
    }
  | {
      readonly kind: 'typed-name';
      readonly prompt: string;
      /** What the operator must type, character for character. */
      readonly expected: string;
      readonly event: string;
      /** Other ways out. */
      readonly options: readonly QuestionOption[];
      /** Present when a second person has to agree before the name is taken. */
      readonly approval?: ApprovalView;
    }
  | {
      readonly kind: 'secret';
      readonly prompt: string;
      readonly event: string;
      /** Ask a second time and compare. */
      readonly twice: boolean;
      readonly minLength: number;
      readonly options: readonly QuestionOption[];
    }
  | {
      /**
       * A moment: arrows move it, digits and words such as `14:32` or `10 minutes ago` set it (see
       * view/moment.ts).
       */
      readonly kind: 'time';
      readonly prompt: string;
      readonly event: string;
      /** RFC 3339, UTC; both can be chosen. */
      readonly earliest: string;
      readonly latest: string;
      readonly suggested: string;
      readonly options: readonly QuestionOption[];
    }
  | {
      readonly kind: 'text';
      readonly prompt: string;
      readonly event: string;
      readonly pattern?: { readonly source: string; readonly says: string };
      readonly options: readonly QuestionOption[];
    }
  | {
      readonly kind: 'followUps';
      readonly prompt: string;
      /** Those that are still open; `RunView.followUps` has all. */
      readonly open: readonly FollowUpView[];
      readonly close: string;
      readonly skip: string;
      readonly doNow: string;
      readonly options: readonly QuestionOption[];
    };

/** How the confirmation on the screen is approved by a second person. */
export interface ApprovalView {
  readonly state: 'needed' | 'given' | 'expired' | 'withdrawn' | 'bypassed';
  /** Empty until it was asked for. */
  readonly challenge: string;
  /** The file that the second person signs, and the command that signs it. */
  readonly file: string;
  readonly command: string;
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly expiresAt: string;
  /** Who approved it; why it goes on without anybody; why it was withdrawn. */
  readonly by?: string;
  /** Why a signature that is there does not count. */
  readonly problem?: string;
}

/** A follow-up, as people see it. */
export interface FollowUpView {
  readonly id: string;
  readonly what: string;
  readonly subject: string;
  readonly owner: string;
  /** Seconds it has been open, or was until it was closed; undefined when that is not known. */
  readonly age: number | undefined;
  /** Seconds until it is due, negative when that has passed; undefined without a limit. */
  readonly left: number | undefined;
  /** Exact commands to copy. */
  readonly commands: readonly string[];
  readonly doable: 'platform' | 'cf' | 'run' | undefined;
  /** How it was done or why it was skipped, in one line; undefined while it is open. */
  readonly closed: { readonly tone: Tone; readonly text: string } | undefined;
}

/** The share of the recovery time from which on a responder should know that little is left. */
export const SHARE_TO_WARN = 0.8;

/** An objective against the clock. Seconds. */
export interface ObjectiveView {
  readonly name: 'RTO' | 'RPO';
  readonly limit: number | undefined;
  readonly value: number | undefined;
  /** Whether it still runs. */
  readonly running: boolean;
  readonly tone: Tone;
  /** `decide 2m10s · queue 4s · …`, or how the RPO was measured. */
  readonly detail: string;
}

export interface ActivityView {
  /** What is going on, as a sentence without a stop: `waiting for backup 7`. */
  readonly title: string;
  /** Seconds since it began. */
  readonly seconds: number;
  /** It takes longer than it should. */
  readonly overdue?: true;
  readonly progress?:
    | {
        readonly kind: 'bytes';
        readonly done: number;
        readonly total: number | undefined;
        readonly bytesPerSecond: number | undefined;
      }
    | { readonly kind: 'task'; readonly status: string }
    | { readonly kind: 'wait'; readonly secondsLeft: number };
}

export interface OutcomeView {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly lines: readonly string[];
}

export interface RunView {
  readonly runId: string;
  readonly runbook: string;
  readonly title: string;
  readonly instance: string;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly clock: string;
  /** Seconds since the run began. */
  readonly elapsed: number;
  readonly rail: readonly RailStep[];
  /** The runbook's section for the current state, Markdown. */
  readonly prose: { readonly title: string; readonly markdown: string };
  readonly facts: readonly FactLine[];
  readonly question?: QuestionView;
  readonly activity?: ActivityView;
  /** The follow-ups of the run, open and closed; empty for most of a run. */
  readonly followUps: readonly FollowUpView[];
  /** Recovery time and recovery point against the objectives; empty for a runbook that recovers nothing. */
  readonly objectives: readonly ObjectiveView[];
  /** Newest last. */
  readonly log: readonly LogLine[];
  /** A loud line above everything: an in-doubt call, a paused run, a failure. */
  readonly banner?: { readonly tone: Tone; readonly text: string; readonly hints: readonly string[] };
  /** The run waits for credentials that the service accepts; `RunPort.wake` tries again. */
  readonly paused: boolean;
  /**
   * Why nobody can carry it on once it was left, in one sentence with what stays of it; undefined for a run
   * that can be resumed.
   */
  readonly gone?: string | undefined;
  /** Present when the run is over. */
  readonly outcome?: OutcomeView;
}
