import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { QuestionOption as MachineOption, OtherWay, Question } from '../../machines/parts/question.ts';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import type { Prose, ProseSection } from './prose.ts';
import type { WatchedView } from './run-record.ts';

/**
 * What a renderer needs to draw a run: plain data, every text already printable (see text.ts). The terminal
 * UI, the plain renderer and tests all take this and nothing else.
 */

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'dim';

export interface RailStep {
  readonly id: string;
  readonly title: string;
  /** `open`: passed, but its work is not done yet. */
  readonly state: 'done' | 'open' | 'current' | 'ahead' | 'skipped' | 'failed';
  /** One short remark, for instance the reason of a skip. */
  readonly note?: string | undefined;
  /** How long the run has been in it. */
  readonly seconds?: number;
  /** Seconds that earlier runs took for it, if known and it is still to come. */
  readonly usual?: number | undefined;
  /** What the runbook says of it. */
  readonly prose?: Prose | undefined;
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
  /** The step of the rail in which it was written; undefined in the first state. */
  readonly step?: string;
  /** What the run has been doing since then, as an `ActivityView` calls it; the text says it too. */
  readonly next?: string;
}

/** An option of the question of a machine, by its name. */
export interface QuestionOption extends Omit<MachineOption, 'event' | 'recommended'> {
  /** As `optionKey` names it. */
  readonly event: string;
  readonly recommended: boolean;
}

/** A question of a machine, with the options as the view has them. */
type Viewed<Kind extends Question['kind']> = Omit<Extract<Question, { kind: Kind }>, 'options' | 'event'> & {
  readonly options: readonly QuestionOption[];
};

/** A question that takes more than a choice; `event` names that answer. */
type Entered<Kind extends Question['kind']> = Viewed<Kind> & { readonly event: string };

export type QuestionView =
  | (Omit<Viewed<'choice'>, 'otherWays'> & {
      /** The step that is under way goes on whether this is answered or not. */
      readonly beside?: true;
      /** Present if something failed, or the outcome of a call is unknown. */
      readonly trouble?: TroubleView;
    })
  | (Omit<Entered<'typed-name'>, 'order' | 'byOthers'> & {
      /** Present if a second person must agree before the name is accepted. */
      readonly approval?: ApprovalView;
    })
  | Entered<'secret'>
  | (Omit<Entered<'time'>, 'suggested' | 'wentWrongAt' | 'backupsAt'> & {
      readonly suggested: string;
      /** When it went wrong, if a time was given, and when known backups were made. */
      readonly marks: { readonly incident: string | undefined; readonly backups: readonly string[] };
    })
  | Entered<'text'>
  | (Omit<Viewed<'followUps'>, 'followUps'> & {
      /** Those that are still open; `RunView.followUps` has all. */
      readonly open: readonly FollowUpView[];
    });

/** The facts of a failure besides the sentence that says what happened. */
export interface TroubleView {
  /** What was sent or tried, what came back, what the service shows, the code: each with its time. */
  readonly facts: readonly FactLine[];
  /** Exact commands that lead on or investigate, the most helpful first, and when each applies. */
  readonly commands: readonly WayOn[];
  /** How often the call failed in a row, and how: `the last 3 tries got 502`. */
  readonly tries?: string | undefined;
}

/** An exact command that leads on or investigates, and when to use it. */
export interface WayOn extends Omit<OtherWay, 'leadsTo'> {
  /** What a screen can begin instead; undefined if only the command does it. */
  readonly leadsTo?: OtherWay['leadsTo'];
}

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
  /** Who approved it; why it continues without approval; why it was withdrawn. */
  readonly by?: string | undefined;
  /** Why a present signature does not count. */
  readonly problem?: string | undefined;
}

/** A follow-up with its texts cleaned. */
export interface FollowUpView
  extends DeepReadonly<Pick<FollowUp, 'id' | 'what' | 'subject' | 'commands' | 'doable'>> {
  readonly owner: string;
  /** Seconds it has been open, or was until it was closed; undefined if unknown. */
  readonly age: number | undefined;
  /** Seconds until it is due, negative if overdue; undefined without a limit. */
  readonly left: number | undefined;
  /** How it was done or why it was skipped, in one line; undefined while it is open. */
  readonly closed: { readonly tone: Tone; readonly text: string } | undefined;
}

/** The share of the recovery time at which a responder should know that little is left. */
export const SHARE_TO_WARN = 0.8;

/** An objective against the clock. Seconds. */
export interface ObjectiveView {
  readonly name: 'RTO' | 'RPO';
  readonly limit: number | undefined;
  readonly value: number | undefined;
  /** Whether it still runs. */
  readonly running: boolean;
  readonly tone: Tone;
  /** The result for the limit; undefined without one, and while it can still be met. */
  readonly verdict?: 'met' | 'missed' | 'given up' | 'not decided';
  /** The parts in which the time passed, as the report measures them; parts without time are missing. */
  readonly slices?: readonly { readonly name: string; readonly seconds: number }[];
  /** `decide 2 min 10 s, queue 4 s, …`, or how the RPO was measured. */
  readonly detail: string;
  /** Why it was abandoned, or why nothing can be decided, as a sentence without a full stop. */
  readonly why?: string | undefined;
}

export interface ActivityView {
  /** What is going on, as a sentence without a full stop: `waiting for backup 7`. */
  readonly title: string;
  /** Seconds since it began. */
  readonly seconds: number;
  /** It takes longer than it should. */
  readonly overdue?: true | undefined;
  /** What has not answered for a while, since when, and the latest time it is waited for. */
  readonly awaited?: string | undefined;
  /** The usual time of the whole step, and when it should end: `usually 4 min; …`. */
  readonly expected?: string | undefined;
  /** The same for the whole run. */
  readonly runExpected?: string | undefined;
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

/** The result of a run, in the words of every renderer. */
export type Verdict = 'proven' | 'proven, with deviations' | 'not proven' | 'done' | 'stopped' | 'abandoned';

export interface OutcomeView {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly verdict: Verdict;
  /** The end in one sentence. */
  readonly title: string;
  /** `1 min 52 s, 2026-11-21 03:00:41 to 03:02:33 UTC`. */
  readonly took: string;
  /** The instance into which a restore may have gone, and whose content the run does not know. */
  readonly unknown?: string;
  /** The follow-ups that the run leaves in the ledger of its instance. */
  readonly leaves?: readonly string[];
  /** The next step after a run that stopped at a failure; missing if there is none. */
  readonly ways?: readonly WayOn[];
  /** What must be known before everything that went well, worst first. */
  readonly remarks: readonly { readonly tone: Tone; readonly text: string }[];
  /** The report, which is written on request: the file, and the command that writes it. */
  readonly report: { readonly file: string; readonly command: string };
  /** The anchor of the journal; undefined until it was read, and if there is none. */
  readonly anchor?: string;
  /** What the run found and did, by subject. */
  readonly groups: readonly FactGroupView[];
}

export interface FactGroupView {
  readonly title: string;
  readonly facts: readonly FactLine[];
}

/** The second of three chapters is `{ number: 2, of: 3 }`. */
export interface DrillPlace {
  readonly number: number;
  readonly of: number;
}

export interface RunView {
  readonly runId: string;
  readonly runbook: string;
  readonly title: string;
  readonly instance: string;
  /** The instance that the run changes, if that is another one. */
  readonly target?: string | undefined;
  readonly mode: 'LIVE' | 'REHEARSAL';
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly clock: string;
  /** Seconds since the run began, until it ended. */
  readonly elapsed: number;
  readonly rail: readonly RailStep[];
  /** The runbook's section for the current state. */
  readonly prose: ProseSection;
  readonly facts: readonly FactLine[];
  readonly question?: QuestionView | undefined;
  readonly activity?: ActivityView | undefined;
  /** The follow-ups of the run, open and closed; empty for most of a run. */
  readonly followUps: readonly FollowUpView[];
  /** Recovery time and recovery point against the objectives; empty for a runbook that recovers nothing. */
  readonly objectives: readonly ObjectiveView[];
  /** Newest last. */
  readonly log: readonly LogLine[];
  /** A loud line above everything: an in-doubt call, a paused run, a failure. */
  readonly banner?:
    | { readonly tone: Tone; readonly text: string; readonly hints: readonly string[] }
    | undefined;
  /** The run waits for credentials that the service accepts; `RunPort.wake` tries again. */
  readonly paused: boolean;
  /**
   * Why it cannot be resumed once it was left, in one sentence with what stays of it; undefined for a run
   * that can be resumed.
   */
  readonly gone?: string | undefined;
  /** The chapter of the drill that the run belongs to; after it, the drill continues. */
  readonly chapter?: DrillPlace | undefined;
  /** Present if another process drives the run: then nothing can be answered here. */
  readonly watched?: WatchedView;
  /** Present when the run is over. */
  readonly outcome?: OutcomeView | undefined;
}
